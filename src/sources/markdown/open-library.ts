import type { FragmentFile } from "./files/library-file.ts";
import { readLibraryIndex } from "./library-index.ts";
import { buildScenarioIndex, type ScenarioIndex } from "./match/scenario-index.ts";
import { EMPTY_LIBRARY, type Library, readLibrary } from "./read-library.ts";

export interface OpenedLibrary {
  readonly library: Library;
  /** Of the library as it was opened: from its index, where that is of the same files. */
  loadScenarios(): Promise<ScenarioIndex>;
  /** Whether an index was used, and why not where there is one. */
  readonly index: "used" | "absent" | { readonly reason: string };
}

/** Opens a library with its index; files that have changed since are read again, a damaged index is not used. */
export async function openLibrary(directory: string, indexFolder: string): Promise<OpenedLibrary> {
  const kept = await readLibraryIndex(indexFolder);
  const usable = kept !== undefined && "files" in kept ? kept : undefined;
  const before = usable ? { ...EMPTY_LIBRARY, files: usable.files } : EMPTY_LIBRARY;
  const library = await readLibrary(directory, before);
  const same = usable !== undefined && sameFiles(usable.files, library.files);
  return {
    library,
    index: usable ? "used" : kept && "reason" in kept ? kept : "absent",
    loadScenarios: async () =>
      (same ? await usable.loadScenarios() : undefined) ?? buildScenarioIndex(fragmentsOf(library)),
  };
}

export function fragmentsOf({ files }: Library): FragmentFile[] {
  return [...files.values()].filter((file) => file.kind === "fragment");
}

/** Whether two libraries hold the same, whenever their files were written. */
export function sameFiles(one: Library["files"], other: Library["files"]): boolean {
  if (one.size !== other.size) return false;
  for (const [path, { hash }] of other) if (one.get(path)?.hash !== hash) return false;
  return true;
}
