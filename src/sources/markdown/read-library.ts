import { hash } from "node:crypto";
import { statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, sep } from "node:path";
import { setImmediate } from "node:timers/promises";
import { isProblem } from "../../base/problems/problem.ts";
import { loadTokenCounter } from "../../base/tokens/tokens.ts";
import { mapLimit } from "../../base/util/map-limit.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import { type LibraryFile, parseFile } from "./files/parse-file.ts";
import { readFolder, walkFolders } from "./watch-folders.ts";

/** The content of a library's directory, each file in its last good state. */
export interface Library {
  readonly files: ReadonlyMap<string, LibraryFile>;
  /** Why the current content of a file is refused, by path. */
  readonly problems: ReadonlyMap<string, string>;
  readonly folders: readonly string[];
  /** Whether a file changed during the read and must be read again. */
  readonly unsettled: boolean;
}

interface ParsedFile {
  /** Its last good state. */
  readonly file: LibraryFile | undefined;
  readonly problem?: string;
  readonly unsettled?: true;
}

const READERS = 32;
const MAX_BYTES = 4 * 2 ** 20;

export const EMPTY_LIBRARY: Library = {
  files: new Map(),
  problems: new Map(),
  folders: [],
  unsettled: false,
};

/** Reads the files that changed since `before` and reuses all others. Must not throw for any file content. */
export async function readLibrary(directory: string, before: Library): Promise<Library> {
  const listing = await listFiles(directory);
  if (listing === undefined) {
    const problems = new Map([[".", "the directory does not exist"]]);
    return { ...before, problems, folders: [], unsettled: false };
  }
  const changed = listing.files.filter(({ path, stamp }) => before.files.get(path)?.stamp !== stamp);
  if (changed.length === 0 && before.files.size === listing.files.length) {
    return { files: before.files, problems: new Map(), folders: listing.folders, unsettled: false };
  }
  const outcomes = await mapLimit(changed, READERS, (one) =>
    readOne(directory, one, before.files.get(one.path)),
  );
  const byPath = new Map(changed.map(({ path }, index) => [path, outcomes[index]!]));
  const files = new Map<string, LibraryFile>();
  for (const { path } of listing.files) {
    const outcome = byPath.get(path);
    const file = outcome ? outcome.file : before.files.get(path);
    if (file) files.set(path, file);
  }
  return {
    files,
    problems: new Map([...byPath].flatMap(([path, { problem }]) => (problem ? [[path, problem]] : []))),
    folders: listing.folders,
    unsettled: outcomes.some((outcome) => outcome.unsettled),
  };
}

async function readOne(
  directory: string,
  { path, kind, stamp, bytes }: FoundFile,
  known: LibraryFile | undefined,
): Promise<ParsedFile> {
  try {
    if (bytes > MAX_BYTES)
      return { file: known, problem: `${path}:1:1: it is longer than ${MAX_BYTES} bytes.` };
    const content = await readFile(join(directory, path));
    const now = stampOf(join(directory, path));
    if (now === undefined || settled(now.stamp) !== settled(stamp)) return { file: known, unsettled: true };
    const digest = hash("sha256", content, "hex");
    if (known?.hash === digest) return { file: { ...known, stamp } };
    const raw = { path, kind, stamp, hash: digest };
    return { file: parseFile(raw, content.toString("utf8"), await loadTokenCounter()) };
  } catch (error) {
    if ((error as { code?: unknown }).code === "ENOENT") return { file: known, unsettled: true };
    return { file: known, problem: isProblem(error) ? error.message : `${path}: ${reasonOf(error)}` };
  }
}

function settled(stamp: string): string {
  return stamp.endsWith("?") ? stamp.slice(0, -1) : stamp;
}

interface FoundFile extends Pick<LibraryFile, "path" | "kind" | "stamp"> {
  readonly bytes: number;
}

/** Kinds of files by the top folder of the library. */
const FOLDERS: Readonly<Record<string, LibraryFile["kind"]>> = {
  prompts: "prompt",
  fragments: "fragment",
  resources: "fragment",
  rules: "rule",
};

/** The top folder of a library without these folders. All its files are fragments. */
const NO_FOLDER = ".";
const MAX_FILES = 100_000;
const SLICE = 512;
/** A file this young may change again without a new time. */
const RACY_MS = 50;

/**
 * Lists the Markdown files of a library with their stamps, ordered by path, and the folders to watch. Undefined without
 * the directory. Skips links, hidden files and hidden folders. Synchronous calls, in slices, take a quarter of the time
 * of the thread pool (`npm run bench -- knowledge`).
 */
async function listFiles(directory: string) {
  const top = readFolder(directory);
  if (top === undefined) return undefined;
  const files: FoundFile[] = [];
  const folders = [directory];
  const named = top.filter((entry) => entry.isDirectory() && Object.hasOwn(FOLDERS, entry.name));
  const isPlain = named.length === 0 && !top.some(({ name }) => name === "skills");
  const roots = isPlain ? [directory] : named.map(({ name }) => `${directory}${sep}${name}`);
  for (const { path, entry } of walkFolders(roots, folders, (name) => name.startsWith("."))) {
    if (!entry.isFile() || !entry.name.endsWith(".md") || files.length >= MAX_FILES) continue;
    const stamped = stampOf(path);
    const inner = path.slice(directory.length + 1).replaceAll(sep, "/");
    const kind = isPlain ? "fragment" : FOLDERS[inner.split("/", 1)[0]!]!;
    if (stamped) files.push({ path: isPlain ? `${NO_FOLDER}/${inner}` : inner, kind, ...stamped });
    if (files.length % SLICE === 0) await setImmediate();
  }
  files.sort((one, other) => (one.path < other.path ? -1 : 1));
  return { files, folders };
}

/** Undefined if the file no longer exists. */
function stampOf(file: string): { stamp: string; bytes: number } | undefined {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (!stat) return undefined;
  const racy = Date.now() - stat.mtimeMs < RACY_MS ? "?" : "";
  return { stamp: `${stat.size}-${stat.mtimeMs}${racy}`, bytes: stat.size };
}
