import { registerHooks } from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** Packages that a person's module may import from anywhere: Keyhole provides them if they are not installed. */
const PROVIDED = /^(?:keyhole|zod)(?:\/|$)/;

let isBringing = false;

/** Lets modules in folders without packages, as with a global installation, import Keyhole's. */
function providePackages(): void {
  if (isBringing) return;
  isBringing = true;
  registerHooks({
    resolve: (specifier, context, next) => {
      try {
        return next(specifier, context);
      } catch (error) {
        if (!PROVIDED.test(specifier)) throw error;
        return next(specifier, { ...context, parentURL: import.meta.url });
      }
    },
  });
}

/**
 * Imports a person's file. TypeScript counts as an ES module even if package.json says otherwise, as after `npm init`.
 */
export async function importModule(path: string): Promise<Readonly<Record<string, unknown>>> {
  providePackages();
  const url = pathToFileURL(path).href;
  if (!url.endsWith(".ts")) return import(url);
  const hooks = registerHooks({
    load: (file, context, next) =>
      next(file, file === url ? { ...context, format: "module-typescript" } : context),
  });
  return import(url).finally(() => hooks.deregister());
}

/** Imports a package from next to Keyhole or `~/.keyhole`, never from the working directory. Undefined if absent. */
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

/** False if the package exists and one of its own dependencies is missing. */
export function isMissing(error: unknown, name: string): boolean {
  if (!(error instanceof Error) || !("code" in error)) return false;
  return error.code === "ERR_MODULE_NOT_FOUND" && error.message.includes(`'${name}'`);
}
