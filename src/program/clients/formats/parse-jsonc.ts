import type { Node } from "jsonc-parser";

/** A place in a text; both count from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

export type ParsedJsonc =
  | {
      readonly ok: true;
      readonly value: unknown;
      /** The position of the path's last key; if that is missing, of the last key that exists. */
      positionOf(path: readonly string[]): Promise<Position>;
    }
  | Refused;

interface Refused {
  readonly ok: false;
  readonly reason: string;
  readonly position: Position;
}

const MAX_CHARS = 1024 * 1024;
const MAX_DEPTH = 64;

/** Parses JSON with comments, trailing commas and a byte order mark. Duplicate keys are an error. */
export async function parseJsonc(given: string): Promise<ParsedJsonc> {
  const text = given.replace(/^\uFEFF/, " ");
  const plain = parsePlain(text);
  const parsed = plain ?? (await toTree(text));
  if ("ok" in parsed) return parsed;
  return {
    ok: true,
    value: "tree" in parsed ? toValue(parsed.tree) : parsed.value,
    positionOf: async (path) => {
      const whole = "tree" in parsed ? parsed : await toTree(text);
      return toPosition(text, "tree" in whole ? offsetOf(whole.tree, path) : 0);
    },
  };
}

/** Most files are plain JSON, which the parser of the engine reads in a fraction of the time. */
function parsePlain(text: string): { readonly value: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return countKeys(value) === countNames(text) ? { value } : undefined;
  } catch {
    return undefined;
  }
}

/** The keys in a text of plain JSON, also those that are there twice. */
function countNames(text: string): number {
  let count = 0;
  for (const [, isName] of text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?/g)) if (isName !== undefined) count += 1;
  return count;
}

/** NaN if the value is nested too deeply. */
function countKeys(value: unknown, depth = 0): number {
  if (typeof value !== "object" || value === null) return 0;
  if (depth >= MAX_DEPTH) return Number.NaN;
  const parts: readonly unknown[] = Object.values(value);
  const own = Array.isArray(value) ? 0 : parts.length;
  return parts.reduce<number>((sum, part) => sum + countKeys(part, depth + 1), own);
}

function refuse(text: string, reason: string, offset: number): Refused {
  return { ok: false, reason, position: toPosition(text, offset) };
}

async function toTree(text: string): Promise<{ readonly tree: Node } | Refused> {
  if (text.length > MAX_CHARS) return refuse(text, `it is longer than ${MAX_CHARS} characters`, 0);
  const { createScanner, parseTree, printParseErrorCode } = await import("jsonc-parser");
  const tooDeep = findTooDeep(createScanner(text));
  if (tooDeep !== undefined) return refuse(text, `it is nested deeper than ${MAX_DEPTH} levels`, tooDeep);
  const errors: { error: number; offset: number; length: number }[] = [];
  const tree = parseTree(text, errors, { allowTrailingComma: true });
  const [first] = errors;
  if (first || !tree)
    return refuse(text, toWords(printParseErrorCode(first?.error ?? 0)), first?.offset ?? 0);
  const duplicate = findDuplicate(tree);
  if (duplicate)
    return refuse(text, `the key ${JSON.stringify(duplicate.value)} is there twice`, duplicate.offset);
  return { tree };
}

/** Checked first, because the parser is recursive. */
function findTooDeep(scanner: import("jsonc-parser").JSONScanner): number | undefined {
  let depth = 0;
  for (let token = scanner.scan(); token !== EOF; token = scanner.scan()) {
    if (token === OPEN_BRACE || token === OPEN_BRACKET) depth += 1;
    if (token === CLOSE_BRACE || token === CLOSE_BRACKET) depth -= 1;
    if (depth > MAX_DEPTH) return scanner.getTokenOffset();
  }
  return undefined;
}

// The parser's SyntaxKind is a const enum, which erasable TypeScript cannot read.
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET, EOF] = [1, 2, 3, 4, 17] as const;

/** Turns `CommaExpected` into "comma expected". */
function toWords(code: string): string {
  return code.replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter}`).toLowerCase();
}

function findDuplicate(node: Node): Node | undefined {
  const keys = new Set<unknown>();
  for (const child of node.children ?? []) {
    const key = node.type === "object" ? child.children?.[0] : undefined;
    if (key && keys.has(key.value)) return key;
    keys.add(key?.value);
    const inner = findDuplicate(child);
    if (inner) return inner;
  }
  return undefined;
}

/** Keys such as `__proto__` become own properties, as in JSON.parse. */
function toValue({ type, value, children = [] }: Node): unknown {
  if (type === "array") return children.map(toValue);
  if (type !== "object") return value;
  return Object.fromEntries(
    children.map(({ children: [key, part] = [] }) => [key?.value, part && toValue(part)]),
  );
}

function offsetOf(tree: Node, path: readonly string[]): number {
  let { offset } = tree;
  let node: Node | undefined = tree;
  for (const name of path) {
    const child: Node | undefined =
      node?.type === "array"
        ? node.children?.[Number(name)]
        : node?.children?.find(({ children }) => children?.[0]?.value === name);
    if (!child) break;
    offset = child.offset;
    node = child.type === "property" ? child.children?.[1] : child;
  }
  return offset;
}

function toPosition(text: string, offset: number): Position {
  const before = text.slice(0, offset);
  return { line: before.split("\n").length, column: before.length - before.lastIndexOf("\n") };
}
