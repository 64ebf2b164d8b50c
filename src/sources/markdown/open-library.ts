import { readLibraryIndex } from "./library-index.ts";
import { EMPTY_LIBRARY, type Library, readLibrary } from "./read-library.ts";

export interface OpenedLibrary {
  readonly library: Library;
  /** Whether an index was used, and the reason where one exists and was not. */
  readonly index: "used" | "absent" | { readonly reason: string };
}

/** Opens a library from its index and reads the files that changed since. A damaged index is not used. */
export async function openLibrary(directory: string, indexFolder: string): Promise<OpenedLibrary> {
  const kept = await readLibraryIndex(indexFolder);
  const usable = kept !== undefined && "files" in kept ? kept : undefined;
  const before = usable ? { ...EMPTY_LIBRARY, files: usable.files } : EMPTY_LIBRARY;
  const library = await readLibrary(directory, before);
  return { library, index: usable ? "used" : kept && "reason" in kept ? kept : "absent" };
}
