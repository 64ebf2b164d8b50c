import { readFile, realpath, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";

/** Quoted relative paths. More than imports, which does no harm: a file too many only asks once too often. */
const RELATIVE = /(["'`])(\.{1,2}\/[^"'`\n]{1,1000})\1/g;
const CODE = /\.[cm]?[jt]sx?$/;
const ENDINGS = ["", ".js", ".ts", ".mjs", ".cjs", ".mts", ".cts", ".json", "/index.js", "/index.ts"];

/** Lists a module and all files that it names by relative paths, directly or through others. Real paths, in order. */
export async function codeFiles(module: string): Promise<string[]> {
  const found = new Set<string>();
  const open = [await realpath(module)];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (found.has(path)) continue;
    found.add(path);
    if (!CODE.test(path)) continue;
    const text = await readFile(path, "utf8").catch(() => "");
    for (const [, , named = ""] of text.matchAll(RELATIVE)) {
      const near = resolve(dirname(path), named);
      for (const ending of ENDINGS) if (await isFile(near + ending)) open.push(await realpath(near + ending));
    }
  }
  return [...found].sort();
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (about) => about.isFile(),
    () => false,
  );
}
