import { stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const MAXIMUM_LEVELS = 6;

/** Finds a file of the package. Walks up from this file, because source and build have different depths. */
export async function packagedFile(path: string): Promise<string | undefined> {
  let folder = dirname(fileURLToPath(import.meta.url));
  for (let level = 0; level <= MAXIMUM_LEVELS; level++) {
    const candidate = join(folder, path);
    const about = await stat(candidate).catch(() => undefined);
    if (about?.isFile()) return candidate;
    folder = dirname(folder);
  }
  return undefined;
}
