import { registerHooks } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/**
 * Imports a package as a file of one of the folders would, or else as this program would. Undefined if it is
 * installed in none of these places.
 */
export async function importFrom(
  name: string,
  folders: readonly string[],
): Promise<Readonly<Record<string, unknown>> | undefined> {
  for (const folder of [...folders, undefined]) {
    const parentURL = folder === undefined ? import.meta.url : pathToFileURL(join(folder, "index.js")).href;
    const hooks = registerHooks({
      resolve: (specifier, context, next) =>
        next(specifier, specifier === name ? { ...context, parentURL } : context),
    });
    try {
      return await import(name);
    } catch (error) {
      if (!isMissing(error, name)) throw error;
    } finally {
      hooks.deregister();
    }
  }
  return undefined;
}

/** False if the package is there and one of its own dependencies is missing. */
export function isMissing(error: unknown, name: string): boolean {
  if (!(error instanceof Error) || !("code" in error)) return false;
  return error.code === "ERR_MODULE_NOT_FOUND" && error.message.includes(`'${name}'`);
}
