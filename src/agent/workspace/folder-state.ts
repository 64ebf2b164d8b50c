import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { mapLimit } from "../../base/util/map-limit.ts";
import { type FileContent, loadFile } from "./file-content.ts";
import { walk } from "./walk.ts";

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

/** The files of a folder as they were when somebody looked last, without ignored ones. */
export class FolderState {
  /** How many files are left out, because they are too large or too many. */
  leftOut = 0;
  readonly #root: string;
  #known: ReadonlyMap<string, KnownFile> | undefined;

  constructor(root: string) {
    this.#root = root;
  }

  /**
   * Looks at the folder again. Returns the files that are not as they were, with their content then and now; the first
   * look reports no change.
   */
  async look(): Promise<readonly FolderChange[]> {
    const before = this.#known;
    const now = await this.#readAll();
    this.#known = now;
    const changed: FolderChange[] = [];
    for (const path of before ? new Set([...before.keys(), ...now.keys()]) : []) {
      const then = before?.get(path)?.content;
      const after = now.get(path)?.content;
      if (then?.hash === after?.hash && then?.mode === after?.mode) continue;
      // A file that has become too large, or was so before, is still there.
      const isThere = after !== undefined || (await lstat(path).catch(() => undefined)) === undefined;
      if (isThere) changed.push({ path, before: then, after });
    }
    return changed;
  }

  async #readAll(): Promise<ReadonlyMap<string, KnownFile>> {
    const paths: string[] = [];
    for await (const { path, kind } of walk(this.#root, this.#root))
      if (kind === "file") paths.push(join(this.#root, path));
    const files = await mapLimit(paths.slice(0, MOST_FILES), CONCURRENCY, async (path) => {
      return [path, await this.#read(path)] as const;
    });
    const found = new Map<string, KnownFile>();
    let bytes = 0;
    for (const [path, file] of files) {
      if (!file || bytes + file.content.bytes.length > MOST_BYTES) continue;
      found.set(path, file);
      bytes += file.content.bytes.length;
    }
    this.leftOut = paths.length - found.size;
    return found;
  }

  async #read(path: string): Promise<KnownFile | undefined> {
    const about = await lstat(path, { bigint: true }).catch(() => undefined);
    if (!about?.isFile() || about.size > MOST_FILE_BYTES) return undefined;
    const stamp = [about.mtimeNs, about.ctimeNs, about.size, about.ino, about.mode].join(" ");
    const last = this.#known?.get(path);
    if (last?.stamp === stamp) return last;
    const content = await loadFile(path).catch(() => undefined);
    return content && { stamp, content };
  }
}
