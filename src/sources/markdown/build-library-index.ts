import { join } from "node:path";
import { problem } from "../../schema/problem.ts";
import { INDEX_FOLDER, writeLibraryIndex } from "./library-index.ts";
import { EMPTY_LIBRARY, readLibrary } from "./read-library.ts";

export interface BuiltIndex {
  readonly files: number;
  readonly fragments: number;
  readonly scenarios: number;
  readonly keywords: number;
  /** Why files were left out, with their place. */
  readonly problems: readonly string[];
}

/** Reads a library and writes its index, in the directory unless another place is given. */
export async function buildLibraryIndex(directory: string, out?: string): Promise<BuiltIndex> {
  const { files, problems, folders } = await readLibrary(directory, EMPTY_LIBRARY);
  if (folders.length === 0)
    throw problem("INVALID_INPUT", { operation: "index", reason: `${directory} is not a directory` });
  const counts = await writeLibraryIndex(out ?? join(directory, INDEX_FOLDER), [...files.values()]);
  return { files: files.size, ...counts, problems: [...problems.values()] };
}
