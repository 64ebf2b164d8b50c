/** Modules that stay imports: packages that trace requests replace them while they are imported. */
const TRACED = /^node:https?2?$/;
const IMPORT = /\s*import\s*([\w$*{},\s]*?)(?:\s*from\s*)?"([^"]+)";?/y;

/**
 * Replaces the imports of Node's modules, which stand at the top of a bundled file. An import makes Node read every
 * property of its module, and some of them load further modules: 9 ms and 5 MB for those that a start needs.
 */
export function leanImports(code: string): string {
  const first = code.startsWith("#!") ? code.indexOf("\n") + 1 : 0;
  const imports: string[] = [];
  const modules: string[] = [];
  let end = first;
  for (const [whole, clause, module] of importsAt(code, first)) {
    end += whole.length;
    if (!module.startsWith("node:") || TRACED.test(module)) imports.push(whole);
    else if (clause) modules.push(toDeclaration(clause, module));
  }
  return [code.slice(0, first), ...imports, ...modules, code.slice(end)].join("");
}

function* importsAt(code: string, from: number): Generator<[whole: string, clause: string, module: string]> {
  IMPORT.lastIndex = from;
  for (let found = IMPORT.exec(code); found; found = IMPORT.exec(code))
    yield [found[0], found[1] ?? "", found[2] ?? ""];
}

/** `fs, { rm as remove }` becomes `fs = …, { rm: remove } = …`. */
function toDeclaration(clause: string, module: string): string {
  const [, whole, names] = /^([^{]*?),?\s*(?:\{(.*)\})?$/s.exec(clause) ?? [];
  // The variable may have the same name as the global.
  const value = `globalThis.process.getBuiltinModule("${module}")`;
  const parts = (names ?? "").split(",").map((part) => part.trim().split(/\s+as\s+/));
  const isWhole = ([name]: readonly string[]) => name === "default";
  const named = parts.filter((part) => part[0] && !isWhole(part)).map((part) => part.join(":"));
  const objects = [
    ...(whole ? [whole.replace(/^\*\s*as\s+/, "").trim()] : []),
    ...parts.filter(isWhole).map((part) => part[1]),
  ];
  const declared = [...objects, ...(named.length > 0 ? [`{${named.join(",")}}`] : [])];
  return `const ${declared.map((left) => `${left}=${value}`).join(",")};`;
}
