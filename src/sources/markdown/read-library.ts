import { hash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isProblem } from "../../schema/problem.ts";
import { mapLimit } from "../../util/map-limit.ts";
import { reasonOf } from "../../util/reason-of.ts";
import { loadTokenCounter } from "../../util/tokens.ts";
import type { LibraryFile } from "./library-file.ts";
import { type FoundFile, listFiles, stampOf } from "./list-files.ts";
import { parseFile } from "./parse-file.ts";

/** What is in a library's directory, every file as it was when it was last good. */
export interface Library {
  readonly files: ReadonlyMap<string, LibraryFile>;
  /** By path: why a file, as it is now, is not taken. */
  readonly problems: ReadonlyMap<string, string>;
  readonly folders: readonly string[];
  /** Whether a file was being written while it was read: it has to be looked at again. */
  readonly unsettled: boolean;
}

type Outcome =
  | { readonly file: LibraryFile | undefined }
  | { readonly file: LibraryFile | undefined; readonly problem: string }
  | { readonly file: LibraryFile | undefined; readonly unsettled: true };

const READERS = 32;
const MAX_BYTES = 4 * 2 ** 20;

export const EMPTY_LIBRARY: Library = {
  files: new Map(),
  problems: new Map(),
  folders: [],
  unsettled: false,
};

/** Reads what has changed since; the rest is taken over as it is. Must not throw for what files hold. */
export async function readLibrary(directory: string, before: Library): Promise<Library> {
  const found = await listFiles(directory);
  if (found === undefined) {
    const problems = new Map([[".", "the directory is not there"]]);
    return { ...before, problems, folders: [], unsettled: false };
  }
  const files = new Map<string, LibraryFile>();
  const problems = new Map<string, string>();
  let unsettled = false;
  const outcomes = await mapLimit(found.files, READERS, (one): Promise<Outcome> => {
    const known = before.files.get(one.path);
    if (known !== undefined && known.stamp === one.stamp) return KEPT;
    return readOne(directory, one, known);
  });
  for (const [index, { path }] of found.files.entries()) {
    const outcome = outcomes[index]!;
    const file = outcome === KEPT_OUTCOME ? before.files.get(path) : outcome.file;
    if (file) files.set(path, file);
    if ("problem" in outcome) problems.set(path, outcome.problem);
    if ("unsettled" in outcome) unsettled = true;
  }
  return { files, problems, folders: found.folders, unsettled };
}

const KEPT_OUTCOME: Outcome = { file: undefined };
/** One for all: most files of most readings are as they were. */
const KEPT = Promise.resolve(KEPT_OUTCOME);

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
