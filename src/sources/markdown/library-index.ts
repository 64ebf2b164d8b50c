import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { problem } from "../../base/problems/problem.ts";
import { crc32 } from "../../base/util/content-hash.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import { writeFileAtomic } from "../../base/util/write-file-atomic.ts";
import type { LibraryFile } from "./files/parse-file.ts";
import { EMPTY_LIBRARY, readLibrary } from "./read-library.ts";
import { createToContent } from "./to-content.ts";

/** Increase it when the format of an index changes. */
const VERSION = "5";
const FILES = "files.index";

/** Files whose bodies are stored as one text. */
const CHUNK = 128;

export const INDEX_FOLDER = ".index";

/** Reads a library and writes its index to `out`. Default: `.index` in the directory. */
export async function buildLibraryIndex(directory: string, out = join(directory, INDEX_FOLDER)) {
  const { files, problems, folders } = await readLibrary(directory, EMPTY_LIBRARY);
  if (folders.length === 0)
    throw problem("INVALID_INPUT", { operation: "index", reason: `${directory} is not a directory` });
  const all = [...files.values()];
  await writeLibraryIndex(out, all);
  const fragments = all.filter(({ kind }) => kind === "fragment").length;
  const { warnings } = createToContent({ name: "library", description: "", scopes: [] })(all);
  return { files: files.size, fragments, problems: [...problems.values()], warnings };
}

/**
 * Writes the parsed files: a line of version and checksum, a line of facts, and all bodies. Bodies are joined into
 * chunks, because a few long texts load far faster than many short ones (`npm run bench -- knowledge`), and slices
 * share their memory. Not into a single text: one wide character would double its size.
 */
async function writeLibraryIndex(folder: string, files: readonly LibraryFile[]): Promise<void> {
  await mkdir(folder, { recursive: true });
  const facts: unknown[] = [];
  const bodies: Buffer[] = [];
  for (let start = 0; start < files.length; start += CHUNK) {
    const some = files.slice(start, start + CHUNK);
    const bytes = Buffer.from(some.map(({ body }) => body).join(""));
    // An empty body keeps the object's shape: adding the field later would copy the object.
    facts.push({
      bytes: bytes.length,
      files: some.map((file) => [file.body.length, { ...file, body: "" }]),
    });
    bodies.push(bytes);
  }
  const content = Buffer.concat([Buffer.from(`${JSON.stringify(facts)}\n`), ...bodies]);
  const head = `${JSON.stringify({ version: VERSION, checksum: checksumOf(content) })}\n`;
  await writeFileAtomic(join(folder, FILES), Buffer.concat([Buffer.from(head), content]));
}

/** Undefined without an index; the reason if it is unusable. */
export async function readLibraryIndex(
  folder: string,
): Promise<{ files: ReadonlyMap<string, LibraryFile> } | { reason: string } | undefined> {
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

/** Detects accidental damage. Tampering is out of scope: whoever can write the folder can write the library itself. */
function checksumOf(content: Buffer): string {
  return `${content.length} ${crc32(content).toString(16)}`;
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
