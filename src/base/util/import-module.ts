import { registerHooks } from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** The packages that code of people may import wherever it lies, if it has none of its own: Keyhole brings them. */
const BROUGHT = /^(?:keyhole|zod)(?:\/|$)/;

let isBringing = false;

/** Modules of a folder without packages, such as those of a person with a global installation, find Keyhole's. */
function bringPackages(): void {
  if (isBringing) return;
  isBringing = true;
  registerHooks({
    resolve: (specifier, context, next) => {
      try {
        return next(specifier, context);
      } catch (error) {
        if (!BROUGHT.test(specifier)) throw error;
        return next(specifier, { ...context, parentURL: import.meta.url });
      }
    },
  });
}

/** Imports a person's file. TypeScript is an ES module also where package.json says otherwise, as `npm init` makes it. */
export async function importModule(path: string): Promise<Readonly<Record<string, unknown>>> {
  bringPackages();
  const url = pathToFileURL(path).href;
  if (!url.endsWith(".ts")) return import(url);
  const hooks = registerHooks({
    load: (file, context, next) =>
      next(file, file === url ? { ...context, format: "module-typescript" } : context),
  });
  return import(url).finally(() => hooks.deregister());
}

/**
 * Imports a package that a person has installed beside Keyhole or in `~/.keyhole`, never one of the folder that the
 * program stands in. Undefined if it is in neither.
 */
export async function importInstalled(name: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  for (const parentURL of [import.meta.url, pathToFileURL(join(homedir(), ".keyhole/index.js")).href]) {
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
