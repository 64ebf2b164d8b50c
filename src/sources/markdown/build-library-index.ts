import { join } from "node:path";
import { problem } from "../../schema/problem.ts";
import { INDEX_FOLDER, writeLibraryIndex } from "./library-index.ts";
import { EMPTY_LIBRARY, readLibrary } from "./read-library.ts";

export interface BuildIndexOptions {
  /** The folder to write to. Default: `.index` in the directory. */
  readonly out?: string;
  /** The scheme of the library's URIs, which the index then names. */
  readonly scheme?: string;
}

export interface BuiltIndex {
  readonly files: number;
  readonly fragments: number;
  readonly scenarios: number;
  readonly keywords: number;
  /** Why files were left out, each with its place. */
  readonly problems: readonly string[];
}

/** Reads a library and writes its index. */
export async function buildLibraryIndex(
  directory: string,
  { out, scheme }: BuildIndexOptions = {},
): Promise<BuiltIndex> {
  const { files, problems, folders } = await readLibrary(directory, EMPTY_LIBRARY);
  if (folders.length === 0)
    throw problem("INVALID_INPUT", { operation: "index", reason: `${directory} is not a directory` });
  const counts = await writeLibraryIndex(out ?? join(directory, INDEX_FOLDER), [...files.values()], scheme);
  return { files: files.size, ...counts, problems: [...problems.values()] };
}
