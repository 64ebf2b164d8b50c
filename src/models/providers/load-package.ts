import { problem } from "../../schema/problem.ts";

/**
 * Loads an optional package.
 *
 * @throws PACKAGE_MISSING with how to install it.
 */
export async function loadPackage<T>(name: string, feature: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if (isMissing(error, name)) throw problem("PACKAGE_MISSING", { name, feature });
    throw error;
  }
}

/** False if the package is there and one of its own dependencies is missing. */
function isMissing(error: unknown, name: string): boolean {
  if (!(error instanceof Error) || !("code" in error)) return false;
  return error.code === "ERR_MODULE_NOT_FOUND" && error.message.includes(`'${name}'`);
}
