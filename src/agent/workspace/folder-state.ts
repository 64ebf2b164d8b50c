import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { mapLimit } from "../../base/util/map-limit.ts";
import { type FileContent, loadFile } from "./file-content.ts";
import { walk } from "./walk.ts";

/** The files of a folder as they were when somebody looked last, without ignored ones. */
export interface FolderState {
  /** Looks at the folder again. Returns the files that are not as they were, with their content then and now. */
  look(): Promise<readonly FolderChange[]>;
  /** How many files are left out, because they are too large or too many. */
  readonly leftOut: number;
}

export interface FolderChange {
  readonly path: string;
  readonly before: FileContent | undefined;
  readonly after: FileContent | undefined;
}

const MOST_FILES = 5_000;
const MOST_BYTES = 64 * 2 ** 20;
const MOST_FILE_BYTES = 2 ** 20;
const CONCURRENCY = 16;

interface KnownFile {
  /** Changes when the file does: a file with the same stamp is not read again. */
  readonly stamp: string;
  readonly content: FileContent;
}

/** Nothing is known before the first look, so the first one reports no change. */
export function createFolderState(root: string): FolderState {
  let known: Map<string, KnownFile> | undefined;
  let leftOut = 0;

  async function read(path: string): Promise<KnownFile | undefined> {
    const about = await lstat(path, { bigint: true }).catch(() => undefined);
    if (!about?.isFile() || about.size > MOST_FILE_BYTES) return undefined;
    const stamp = [about.mtimeNs, about.ctimeNs, about.size, about.ino, about.mode].join(" ");
    const last = known?.get(path);
    if (last?.stamp === stamp) return last;
    const content = await loadFile(path).catch(() => undefined);
    return content && { stamp, content };
  }

  async function readAll(): Promise<Map<string, KnownFile>> {
    const paths: string[] = [];
    let missed = 0;
    for await (const { path, kind } of walk(root, root)) {
      if (kind !== "file") continue;
      if (paths.length < MOST_FILES) paths.push(join(root, path));
      else missed += 1;
    }
    const found = new Map<string, KnownFile>();
    let bytes = 0;
    const files = await mapLimit(paths, CONCURRENCY, async (path) => [path, await read(path)] as const);
    for (const [path, file] of files) {
      if (file && bytes + file.content.bytes.length <= MOST_BYTES) {
        found.set(path, file);
        bytes += file.content.bytes.length;
      } else missed += 1;
    }
    leftOut = missed;
    return found;
  }

  return {
    get leftOut() {
      return leftOut;
    },
    look: async () => {
      const before = known;
      const now = await readAll();
      known = now;
      if (!before) return [];
      const paths = new Set([...before.keys(), ...now.keys()]);
      const changed: FolderChange[] = [];
      for (const path of paths) {
        const then = before.get(path)?.content;
        const after = now.get(path)?.content;
        if (then?.hash === after?.hash && then?.mode === after?.mode) continue;
        // A file that has become too large, or was so before, is still there.
        const isThere = after !== undefined || (await lstat(path).catch(() => undefined)) === undefined;
        if (isThere) changed.push({ path, before: then, after });
      }
      return changed;
    },
  };
}
