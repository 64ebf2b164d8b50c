import { hash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isProblem } from "../../schema/problem.ts";
import { mapLimit } from "../../util/map-limit.ts";
import { reasonOf } from "../../util/reason-of.ts";
import { loadTokenCounter } from "../../util/tokens.ts";
import type { LibraryFile } from "./files/library-file.ts";
import { type FoundFile, listFiles, stampOf } from "./list-files.ts";
import { parseFile } from "./parse-file.ts";

/** The content of a library's directory, every file in its last good state. */
export interface Library {
  readonly files: ReadonlyMap<string, LibraryFile>;
  /** Why the current content of a file is refused, by path. */
  readonly problems: ReadonlyMap<string, string>;
  readonly folders: readonly string[];
  /** Whether a file changed during the read and must be read again. */
  readonly unsettled: boolean;
}

interface Outcome {
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

/** Reads the files that changed since `before` and takes over the rest. Must not throw for any content of a file. */
export async function readLibrary(directory: string, before: Library): Promise<Library> {
  const found = await listFiles(directory);
  if (found === undefined) {
    const problems = new Map([[".", "the directory does not exist"]]);
    return { ...before, problems, folders: [], unsettled: false };
  }
  const changed = found.files.filter(({ path, stamp }) => before.files.get(path)?.stamp !== stamp);
  if (changed.length === 0 && before.files.size === found.files.length) {
    return { files: before.files, problems: new Map(), folders: found.folders, unsettled: false };
  }
  const outcomes = await mapLimit(changed, READERS, (one) =>
    readOne(directory, one, before.files.get(one.path)),
  );
  const byPath = new Map(changed.map(({ path }, index) => [path, outcomes[index]!]));
  const files = new Map<string, LibraryFile>();
  for (const { path } of found.files) {
    const outcome = byPath.get(path);
    const file = outcome ? outcome.file : before.files.get(path);
    if (file) files.set(path, file);
  }
  return {
    files,
    problems: new Map([...byPath].flatMap(([path, { problem }]) => (problem ? [[path, problem]] : []))),
    folders: found.folders,
    unsettled: outcomes.some((outcome) => outcome.unsettled),
  };
}

async function readOne(
  directory: string,
  { path, kind, stamp, bytes }: FoundFile,
  known: LibraryFile | undefined,
): Promise<Outcome> {
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
