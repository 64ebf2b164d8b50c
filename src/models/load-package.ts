import { problem } from "../schema/problem.ts";

/** Loads a package that is installed beside Keyhole only by those who use it; says how if it is absent. */
export async function loadPackage<T>(name: string, feature: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if (isMissing(error, name)) throw problem("PACKAGE_MISSING", { name, feature });
    throw error;
  }
}

/** The package itself, and not one that it fails to find in turn. */
function isMissing(error: unknown, name: string): boolean {
  if (!(error instanceof Error) || !("code" in error)) return false;
  return error.code === "ERR_MODULE_NOT_FOUND" && error.message.includes(`'${name}'`);
}
