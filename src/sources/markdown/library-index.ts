import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "../../util/crc32.ts";
import { reasonOf } from "../../util/reason-of.ts";
import { writeFileAtomic } from "../../util/write-file-atomic.ts";
import type { LibraryFile } from "./files/library-file.ts";
import { buildScenarioIndex, type Scenario, type ScenarioIndex } from "./match/scenario-index.ts";

/** Changes with what the files of an index hold or mean. */
const VERSION = "3";
const FILES = "files.index";
const USE_WHEN = "usewhen-index.json";
const KEYWORDS = "keyword-index.json";

/** Files whose bodies are kept together. */
const CHUNK = 128;

export const INDEX_FOLDER = ".index";

/** A library as an index holds it. */
export interface KeptLibrary {
  readonly files: ReadonlyMap<string, LibraryFile>;
  /** The scenarios of exactly these files; undefined where they are damaged. */
  loadScenarios(): Promise<ScenarioIndex | undefined>;
}

/**
 * Writes what a start needs: the files as they were parsed, their scenarios, and the keywords of those. The
 * first is a line of version and checksum, a line of facts, and all bodies; the others are JSON.
 */
export async function writeLibraryIndex(
  folder: string,
  files: readonly LibraryFile[],
): Promise<{ readonly fragments: number; readonly scenarios: number; readonly keywords: number }> {
  await mkdir(folder, { recursive: true });
  const chunks = toChunks(files);
  const facts = chunks.map(({ bytes, files: some }) => ({
    bytes: bytes.length,
    // The place of the body is kept: an object that gets another field later costs a second one.
    files: some.map((file) => [file.body.length, { ...file, body: "" }]),
  }));
  const content = Buffer.concat([
    Buffer.from(`${JSON.stringify(facts)}\n`),
    ...chunks.map(({ bytes }) => bytes),
  ]);
  const checksum = checksumOf(content);
  const head = Buffer.from(`${JSON.stringify({ version: VERSION, checksum })}\n`);

  const fragments = files.filter((file) => file.kind === "fragment");
  const { scenarios, keywords } = buildScenarioIndex(fragments);
  const generated = new Date().toISOString();
  const per = (count: number, of: number) => (of === 0 ? 0 : Math.round((count / of) * 100) / 100);
  const words = [...scenarios.values()].reduce((sum, scenario) => sum + scenario.keywords.length, 0);
  await writeFileAtomic(join(folder, FILES), Buffer.concat([head, content]));
  await writeSealed(join(folder, USE_WHEN), {
    generated,
    files: checksum,
    totalFragments: fragments.length,
    index: Object.fromEntries(scenarios),
    stats: {
      totalScenarios: scenarios.size,
      avgScenariosPerFragment: per(scenarios.size, fragments.length),
      avgKeywordsPerScenario: per(words, scenarios.size),
    },
  });
  await writeSealed(join(folder, KEYWORDS), {
    generated,
    files: checksum,
    keywords: Object.fromEntries(keywords),
    stats: { totalKeywords: keywords.size, avgScenariosPerKeyword: per(words, keywords.size) },
  });
  return { fragments: fragments.length, scenarios: scenarios.size, keywords: keywords.size };
}

/** Undefined where there is no index; a reason where it is not usable. */
export async function readLibraryIndex(
  folder: string,
): Promise<KeptLibrary | { reason: string } | undefined> {
  try {
    const whole = await readFile(join(folder, FILES));
    const headEnd = whole.indexOf(0x0a);
    const { version, checksum } = JSON.parse(whole.toString("utf8", 0, headEnd));
    if (version !== VERSION) return { reason: `the index is of version ${version}` };
    const content = whole.subarray(headEnd + 1);
    if (checksumOf(content) !== checksum) return { reason: "the index is damaged" };
    return {
      files: readFiles(content),
      loadScenarios: () => readScenarios(folder, checksum).catch(() => undefined),
    };
  } catch (error) {
    if ((error as { code?: unknown }).code === "ENOENT") return undefined;
    return { reason: `the index cannot be read: ${reasonOf(error)}` };
  }
}

/** Against accidents, not against whoever may write the folder: that one could write the library itself. */
function checksumOf(content: string | Buffer): string {
  return `${content.length} ${crc32(content).toString(16)}`;
}

/**
 * Bodies are kept many together: a few long texts are read far faster than many short ones, and what is cut
 * out of a text shares its memory. Not all in one, so that one wide character does not widen everything.
 */
function toChunks(files: readonly LibraryFile[]): { bytes: Buffer; files: readonly LibraryFile[] }[] {
  const starts = Array.from({ length: Math.ceil(files.length / CHUNK) }, (_, index) => index * CHUNK);
  return starts.map((start) => {
    const some = files.slice(start, start + CHUNK);
    return { bytes: Buffer.from(some.map(({ body }) => body).join(""), "utf8"), files: some };
  });
}

interface ChunkFacts {
  readonly bytes: number;
  readonly files: readonly (readonly [chars: number, file: LibraryFile & { body: string }])[];
}

function readFiles(content: Buffer): Map<string, LibraryFile> {
  const factsEnd = content.indexOf(0x0a);
  const chunks: readonly ChunkFacts[] = JSON.parse(content.toString("utf8", 0, factsEnd));
  const files = new Map<string, LibraryFile>();
  let start = factsEnd + 1;
  for (const { bytes, files: some } of chunks) {
    const text = content.toString("utf8", start, start + bytes);
    start += bytes;
    let at = 0;
    for (const [chars, file] of some) {
      file.body = text.slice(at, at + chars);
      files.set(file.path, file);
      at += chars;
    }
  }
  return files;
}

async function readScenarios(folder: string, checksum: string): Promise<ScenarioIndex | undefined> {
  const [useWhen, keyword] = await Promise.all([
    readSealed<{ files: string; index: Record<string, Scenario> }>(join(folder, USE_WHEN)),
    readSealed<{ files: string; keywords: Record<string, string[]> }>(join(folder, KEYWORDS)),
  ]);
  if (useWhen?.files !== checksum || keyword?.files !== checksum) return undefined;
  return {
    scenarios: new Map(Object.entries(useWhen.index)),
    keywords: new Map(Object.entries(keyword.keywords)),
  };
}

async function writeSealed(path: string, content: Readonly<Record<string, unknown>>): Promise<void> {
  const checksum = checksumOf(JSON.stringify(content));
  await writeFileAtomic(path, `${JSON.stringify({ version: VERSION, checksum, ...content })}\n`);
}

async function readSealed<T>(path: string): Promise<T | undefined> {
  const { version, checksum, ...content } = JSON.parse(await readFile(path, "utf8"));
  const whole = version === VERSION && checksumOf(JSON.stringify(content)) === checksum;
  return whole ? content : undefined;
}
