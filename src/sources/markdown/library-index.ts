import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "../../util/crc32.ts";
import { reasonOf } from "../../util/reason-of.ts";
import { writeFileAtomic } from "../../util/write-file-atomic.ts";
import type { LibraryFile } from "./files/library-file.ts";
import { buildScenarioIndex } from "./match/scenario-index.ts";

/** Raise it when the format of an index changes. */
const VERSION = "4";
const FILES = "files.index";
const USE_WHEN = "usewhen-index.json";
const KEYWORDS = "keyword-index.json";

/** Number of files whose bodies are stored as one text. */
const CHUNK = 128;

export const INDEX_FOLDER = ".index";

/** A library read from an index. */
export interface KeptLibrary {
  readonly files: ReadonlyMap<string, LibraryFile>;
}

/**
 * Writes the parsed files, which a start reads, and two files of JSON for other programs: the scenarios and their
 * keywords. The first is a line of version and checksum, a line of facts, and all bodies.
 */
export async function writeLibraryIndex(
  folder: string,
  files: readonly LibraryFile[],
  scheme?: string,
): Promise<{ readonly fragments: number; readonly scenarios: number; readonly keywords: number }> {
  await mkdir(folder, { recursive: true });
  const chunks = toChunks(files);
  const facts = chunks.map(({ bytes, files: some }) => ({
    bytes: bytes.length,
    // An empty body keeps the object's shape: adding the field later would copy the object.
    files: some.map((file) => [file.body.length, { ...file, body: "" }]),
  }));
  const content = Buffer.concat([
    Buffer.from(`${JSON.stringify(facts)}\n`),
    ...chunks.map(({ bytes }) => bytes),
  ]);
  const checksum = checksumOf(content);
  const head = Buffer.from(`${JSON.stringify({ version: VERSION, checksum })}\n`);

  const fragments = files.filter((file) => file.kind === "fragment");
  const { scenarios, keywords } = buildScenarioIndex(fragments, scheme);
  const generated = new Date().toISOString();
  const per = (count: number, of: number) => (of === 0 ? 0 : Math.round((count / of) * 100) / 100);
  const words = [...scenarios.values()].reduce((sum, scenario) => sum + scenario.keywords.length, 0);
  await writeFileAtomic(join(folder, FILES), Buffer.concat([head, content]));
  await writeJson(join(folder, USE_WHEN), {
    version: VERSION,
    generated,
    totalFragments: fragments.length,
    index: Object.fromEntries(scenarios),
    stats: {
      totalScenarios: scenarios.size,
      avgScenariosPerFragment: per(scenarios.size, fragments.length),
      avgKeywordsPerScenario: per(words, scenarios.size),
    },
  });
  await writeJson(join(folder, KEYWORDS), {
    version: VERSION,
    generated,
    keywords: Object.fromEntries(keywords),
    stats: { totalKeywords: keywords.size, avgScenariosPerKeyword: per(words, keywords.size) },
  });
  return { fragments: fragments.length, scenarios: scenarios.size, keywords: keywords.size };
}

/** Undefined without an index; a reason where it cannot be used. */
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
    return { files: readFiles(content) };
  } catch (error) {
    if ((error as { code?: unknown }).code === "ENOENT") return undefined;
    return { reason: `the index cannot be read: ${reasonOf(error)}` };
  }
}

/** Detects accidents. Tampering is out of scope: whoever can write the folder can write the library itself. */
function checksumOf(content: Buffer): string {
  return `${content.length} ${crc32(content).toString(16)}`;
}

/**
 * Joins bodies into chunks: a few long texts are read far faster than many short ones, and slices share their
 * memory. A single text would not do, since one wide character would widen all of it.
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

async function writeJson(path: string, content: object): Promise<void> {
  await writeFileAtomic(path, `${JSON.stringify(content)}\n`);
}
