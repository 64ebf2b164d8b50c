import { registerHooks } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { lazy } from "../../base/util/lazy.ts";
import { packagedFile } from "../../base/util/packaged-file.ts";

/** The list of the packages that the build puts beside the program, each in a file of its own name. */
const LIST = "packages/list.json";

/**
 * Lets the program use the packages that its build carries: the AI SDK with its providers, and the client of
 * PostgreSQL. A package that is installed beside Keyhole comes first. In a clone there are none to carry.
 */
export const provideCarriedPackages = lazy(async (): Promise<void> => {
  const list = await packagedFile(LIST);
  if (list === undefined) return;
  const { default: names } = await import(pathToFileURL(list).href, { with: { type: "json" } });
  registerHooks({
    resolve: (specifier, context, next) => {
      try {
        return next(specifier, context);
      } catch (error) {
        if (!names.includes(specifier)) throw error;
        return { url: pathToFileURL(join(dirname(list), `${specifier}.js`)).href, shortCircuit: true };
      }
    },
  });
});
