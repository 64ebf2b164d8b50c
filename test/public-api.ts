// The public API as the sources declare it: the names each door exports, and the types their declarations name.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseSync } from "rolldown/utils";

/** A syntax node, as far as this file reads it. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

/** A top-level declaration of a source file. */
export interface Declaration {
  readonly name: string;
  readonly file: string;
  readonly node: Node;
  /** The text of the comment above it, without the stars; empty if there is none. */
  readonly doc: string;
}

/** One name of a door. */
export interface PublicName {
  readonly door: string;
  readonly name: string;
  readonly isType: boolean;
  readonly declaration: Declaration;
}

interface Module {
  /** Declared names. */
  readonly declarations: ReadonlyMap<string, Declaration>;
  /** Local names that an import or a re-export brings, with the file and the name there. */
  readonly imports: ReadonlyMap<string, { readonly from: string; readonly name: string }>;
  readonly exports: readonly { readonly name: string; readonly isType: boolean }[];
}

const modules = new Map<string, Module>();

/** The doors of the package: the path that users import, and its file. */
export function publicDoors(): [path: string, file: string][] {
  const { exports } = JSON.parse(readFileSync("package.json", "utf8")) as { exports: Record<string, string> };
  return Object.entries(exports).map(([path, file]) => [path.replace(/^\./, "keyhole"), join(file)]);
}

/** Every name that a door exports, with its declaration. */
export function publicNames(): PublicName[] {
  return publicDoors().flatMap(([door, file]) =>
    readModule(file).exports.map(({ name, isType }) => {
      const declaration = declarationOf(file, name);
      if (!declaration) throw new Error(`${door} exports ${name}, which no source file declares`);
      return { door, name, isType, declaration };
    }),
  );
}

/** The door of a declaration: the nearest `index.ts` above its file. */
export function doorOf({ file }: Declaration): string {
  let folder = dirname(file);
  while (!existsSync(join(folder, "index.ts"))) folder = dirname(folder);
  return join(folder, "index.ts");
}

/** Whether a declaration is a function. */
export function isFunction({ node }: Declaration): boolean {
  if (node.type === "FunctionDeclaration" || node.type === "TSDeclareFunction") return true;
  const init = node.type === "VariableDeclarator" ? (node.init as Node | null) : null;
  return init?.type === "ArrowFunctionExpression" || init?.type === "FunctionExpression";
}

/** Whether a function says its return type, so that its declaration names every type of its signature. */
export function hasReturnType({ node }: Declaration): boolean {
  return Boolean(node.returnType ?? (node.init as Node | undefined)?.returnType);
}

/**
 * The types of Keyhole that a declaration names: parameters and result of a function, members of an interface.
 * Types of packages and of the language are left out, and so is everything inside a function's body.
 */
export function namedTypes(declaration: Declaration): Declaration[] {
  const { file, node } = declaration;
  const names = new Set<string>();
  const own = new Set<string>();
  collect(node, names, own);
  const found = [...names]
    .filter((name) => !own.has(name))
    .map((name) => declarationOf(file, name))
    .filter((named) => named !== undefined && named.node !== node);
  return [...found, ...tableFunctions(declaration).flatMap(namedTypes)] as Declaration[];
}

/** The types of Keyhole in the fields of an interface or a type. The interfaces that it extends are left out. */
export function fieldTypes({ file, node }: Declaration): Declaration[] {
  const names = new Set<string>();
  const own = new Set<string>();
  collect(node.type === "TSInterfaceDeclaration" ? node.body : node, names, own);
  if (node.type === "TSInterfaceDeclaration") collect(node.typeParameters, new Set(), own);
  return [...names]
    .filter((name) => !own.has(name))
    .map((name) => declarationOf(file, name))
    .filter((named) => named !== undefined && named.node !== node) as Declaration[];
}

/** The types of Keyhole that the methods of an interface or a type take and return, and functions in its fields. */
export function methodTypes({ file, node }: Declaration): Declaration[] {
  if (!/^TS(Interface|TypeAlias)/.test(node.type)) return [];
  const names = new Set<string>();
  const own = new Set<string>();
  collect(node, new Set(), own);
  for (const method of methodsIn(node)) collect(method, names, own);
  return [...names]
    .filter((name) => !own.has(name))
    .map((name) => declarationOf(file, name))
    .filter((named) => named !== undefined && named.node !== node) as Declaration[];
}

function methodsIn(value: unknown): Node[] {
  if (Array.isArray(value)) return value.flatMap(methodsIn);
  if (typeof value !== "object" || value === null) return [];
  const node = value as Node;
  if (node.type === "TSMethodSignature" || node.type === "TSFunctionType") return [node];
  return Object.values(node).flatMap(methodsIn);
}

/** The fields of a type that are not spelt in camelCase. */
export function snakeFields(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(snakeFields);
  if (typeof value !== "object" || value === null) return [];
  const node = value as Node;
  const name = node.type === "TSPropertySignature" ? ((node.key as Node).name as string | undefined) : "";
  return [...(name?.includes("_") ? [name] : []), ...Object.values(node).flatMap(snakeFields)];
}

/** The functions of a table such as `{ markdown: createMarkdownFormat }`. */
function tableFunctions({ file, node }: Declaration): Declaration[] {
  let table = node.type === "VariableDeclarator" ? (node.init as Node | null) : null;
  if (table?.type === "TSAsExpression") table = table.expression as Node;
  if (table?.type !== "ObjectExpression") return [];
  const names = (table.properties as Node[]).map(({ value }) => value as Node | undefined);
  return names
    .flatMap((value) => (value?.type === "Identifier" ? declarationOf(file, value.name as string) : []))
    .filter((declaration) => declaration !== undefined)
    .filter(isFunction);
}

/** Type references in a node. Names of its own type parameters go into `own`. */
function collect(value: unknown, names: Set<string>, own: Set<string>): void {
  if (Array.isArray(value)) {
    for (const part of value) collect(part, names, own);
    return;
  }
  if (typeof value !== "object" || value === null) return;
  const node = value as Node;
  if (node.type === "TSTypeReference") addName(node.typeName as Node, names);
  if (node.type === "TSInterfaceHeritage" || node.type === "TSClassImplements")
    addName(node.expression as Node, names);
  if (node.type === "TSTypeParameter") own.add(nameOf(node.name));
  const skipsBody = /Function|Method/.test(node.type);
  for (const [field, child] of Object.entries(node)) {
    if (field === "body" && skipsBody) continue;
    if (field === "init" && !/Function/.test((child as Node | null)?.type ?? "")) continue;
    collect(child, names, own);
  }
}

function addName(node: Node, names: Set<string>): void {
  if (node.type === "Identifier") names.add(node.name as string);
}

function nameOf(value: unknown): string {
  return typeof value === "string" ? value : ((value as Node).name as string);
}

/** The declaration behind a name of a file, through its imports; undefined for names of packages. */
function declarationOf(file: string, name: string): Declaration | undefined {
  const module = readModule(file);
  const declared = module.declarations.get(name);
  if (declared) return declared;
  const imported = module.imports.get(name);
  return imported && declarationOf(imported.from, imported.name);
}

function readModule(file: string): Module {
  const known = modules.get(file);
  if (known) return known;
  const text = readFileSync(file, "utf8");
  const { program, comments } = parseSync(file, text);
  const declarations = new Map<string, Declaration>();
  const imports = new Map<string, { from: string; name: string }>();
  const exports: { name: string; isType: boolean }[] = [];
  const docAbove = (start: number) => {
    const above = comments.findLast((comment) => comment.end <= start);
    const isDoc = above?.type === "Block" && above.value.startsWith("*");
    return isDoc && text.slice(above.end, start).trim() === "" ? above.value.replace(/^\s*\* ?/gm, "") : "";
  };
  const declare = (node: Node, start: number, exported: boolean) => {
    const nodes = node.type === "VariableDeclaration" ? (node.declarations as Node[]) : [node];
    for (const each of nodes) {
      if (!each.id) continue;
      const name = nameOf(each.id);
      const isType = /^TS(Interface|TypeAlias)/.test(each.type);
      if (!declarations.has(name)) declarations.set(name, { name, file, node: each, doc: docAbove(start) });
      if (exported) exports.push({ name, isType });
    }
  };
  for (const node of program.body as unknown as Node[]) {
    const source = (node.source as Node | null | undefined)?.value as string | undefined;
    const from = source?.startsWith(".") ? join(dirname(file), source) : undefined;
    for (const specifier of (node.specifiers ?? []) as Node[]) {
      const local = nameOf(node.type === "ImportDeclaration" ? specifier.local : specifier.exported);
      const there = (node.type === "ImportDeclaration" ? specifier.imported : specifier.local) as Node;
      if (from && there) imports.set(local, { from, name: nameOf(there) });
      if (node.type === "ExportNamedDeclaration")
        exports.push({ name: local, isType: node.exportKind === "type" || specifier.exportKind === "type" });
    }
    if (node.type === "ExportNamedDeclaration" && node.declaration)
      declare(node.declaration as Node, node.start, true);
    else declare(node, node.start, false);
  }
  const module = { declarations, imports, exports };
  modules.set(file, module);
  return module;
}
