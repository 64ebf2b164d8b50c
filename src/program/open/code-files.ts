import { readFile, realpath, stat } from "node:fs/promises";
import { registerHooks } from "node:module";
import { dirname, join, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { problem } from "../../base/problems/problem.ts";
import { fieldsOf, isPlainObject, type PlainObject } from "../../base/util/plain-object.ts";

/** Quoted texts that may name a module. More than imports, which does no harm: a file too many only asks once too often. */
const QUOTED = /(["'`])([#.@\w][^"'`\s\\]{0,1000})\1/g;
const CODE = /\.[cm]?[jt]sx?$/;
const ENDINGS = ["", ".js", ".ts", ".mjs", ".cjs", ".mts", ".cts", ".json", "/index.js", "/index.ts"];

/**
 * Lists modules with all files that they reach, and every package.json that decides what a name means there. Names
 * are relative paths, `#names` of an imports map, the package's own name, and packages that are linked into
 * `node_modules`. Every condition of a map counts. Real paths, in order.
 */
export async function codeFiles(modules: readonly string[]) {
  const code = new Set<string>();
  const manifests = new Set<string>();
  const open = await Promise.all(modules.map((path) => realpath(path)));
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (code.has(path)) continue;
    code.add(path);
    if (!CODE.test(path)) continue;
    const own = await nearestManifest(dirname(path));
    if (own) manifests.add(own.path);
    const text = await readFile(path, "utf8").catch(() => "");
    for (const [, , name = ""] of text.matchAll(QUOTED)) {
      const near = name.startsWith(".")
        ? [resolve(dirname(path), name)]
        : await targetsOf(name, { folder: dirname(path), own, manifests });
      for (const file of near.flatMap((target) => ENDINGS.map((ending) => target + ending)))
        if (await isFile(file)) open.push(await realpath(file));
    }
  }
  return { code: [...code].sort(), manifests: [...manifests].sort() };
}

interface Manifest {
  readonly path: string;
  readonly fields: PlainObject;
}

async function nearestManifest(folder: string): Promise<Manifest | undefined> {
  const path = join(folder, "package.json");
  const text = await readFile(path, "utf8").catch(() => undefined);
  if (text !== undefined) return { path, fields: fieldsOf(parsed(text)) };
  return dirname(folder) === folder ? undefined : nearestManifest(dirname(folder));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

interface Importer {
  readonly folder: string;
  /** The package.json that speaks for the importing file. */
  readonly own: Manifest | undefined;
  readonly manifests: Set<string>;
}

/** The paths that a name may stand for, by the maps of the package that says it and of the package that it names. */
async function targetsOf(name: string, from: Importer): Promise<string[]> {
  const { folder, own, manifests } = from;
  if (name.startsWith("#")) {
    if (own === undefined) return [];
    const targets = mapped(fieldsOf(own.fields.imports), name).filter((target) => !target.startsWith("#"));
    const found = targets.map((target) =>
      target.startsWith(".") ? [resolve(dirname(own.path), target)] : targetsOf(target, from),
    );
    return (await Promise.all(found)).flat();
  }
  const [, packageName = "", rest = ""] = /^((?:@[^/]+\/)?[^/]+)(.*)$/.exec(name) ?? [];
  const named = packageName === own?.fields.name ? own : await linkedPackage(folder, packageName);
  if (named === undefined) return [];
  manifests.add(named.path);
  const { exports, main = "index.js" } = named.fields;
  const isMap = isPlainObject(exports) && Object.keys(exports).some((key) => key.startsWith("."));
  const targets =
    exports === undefined
      ? [rest === "" ? String(main) : `.${rest}`]
      : mapped(isMap ? fieldsOf(exports) : { ".": exports }, `.${rest}`);
  return targets.map((target) => resolve(dirname(named.path), target));
}

/** The package behind a link in `node_modules`. The lock file speaks for packages that are installed there. */
async function linkedPackage(folder: string, name: string): Promise<Manifest | undefined> {
  const place = await realpath(join(folder, "node_modules", name)).catch(() => undefined);
  if (place !== undefined) return isInstalled(place) ? undefined : nearestManifest(place);
  return dirname(folder) === folder ? undefined : linkedPackage(dirname(folder), name);
}

function isInstalled(path: string): boolean {
  return path.split(sep).includes("node_modules");
}

/** Every target that a map has for a name, under all conditions, with the pattern's part filled in. */
function mapped(map: PlainObject, name: string): string[] {
  return Object.entries(map).flatMap(([key, value]) => {
    const [before = "", after] = key.split("*");
    if (after === undefined) return key === name ? leaves(value) : [];
    const fits = name.length >= key.length && name.startsWith(before) && name.endsWith(after);
    const part = name.slice(before.length, name.length - after.length);
    return fits ? leaves(value).map((target) => target.replaceAll("*", () => part)) : [];
  });
}

function leaves(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(leaves) : [];
}

export async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (about) => about.isFile(),
    () => false,
  );
}

/** Files of trusted folders, by folder. Undefined until one was loaded. */
let trustedFiles: Map<string, ReadonlySet<string>> | undefined;

/**
 * Keeps code of a trusted folder from importing files that its trust does not cover, such as those with a computed
 * name: they could change without anybody being asked.
 */
export function guardImports(folder: string, files: ReadonlySet<string>): void {
  if (trustedFiles === undefined) {
    const folders = new Map<string, ReadonlySet<string>>();
    trustedFiles = folders;
    registerHooks({
      resolve: (specifier, context, next) => {
        const found = next(specifier, context);
        const importer = pathOf(context.parentURL);
        const path = pathOf(found.url);
        if (importer === undefined || path === undefined || isInstalled(path)) return found;
        const covering = [...folders.values()].filter((covered) => covered.has(importer));
        if (covering.length === 0 || covering.some((covered) => covered.has(path))) return found;
        throw problem("IMPORT_NOT_TRUSTED", { path, importer });
      },
    });
  }
  trustedFiles.set(folder, files);
}

function pathOf(url: string | undefined): string | undefined {
  return url?.startsWith("file:") ? fileURLToPath(url) : undefined;
}
