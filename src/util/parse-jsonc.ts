import type { Node } from "yaml";
import { reasonOf } from "./reason-of.ts";

export interface Position {
  readonly line: number;
  readonly column: number;
}

export type ParsedJsonc =
  | {
      readonly ok: true;
      readonly value: unknown;
      /** Where the last key of the path stands, or as much of the path as there is. */
      positionOf(path: readonly string[]): Position;
      /** From where to where the value at the path reaches in the text. */
      spanOf(path: readonly string[]): { readonly start: number; readonly end: number } | undefined;
    }
  | { readonly ok: false; readonly reason: string; readonly position: Position };

const MAX_CHARS = 1024 * 1024;
const MAX_DEPTH = 64;

/**
 * Reads JSON as people write it into configs: with comments, trailing commas and a byte order mark. YAML is a
 * superset of JSON and its parser knows positions, so only the comments have to be taken out before.
 */
export async function parseJsonc(text: string): Promise<ParsedJsonc> {
  const { isMap, isScalar, isSeq, LineCounter, parseDocument } = await import("yaml");
  const lines = new LineCounter();
  const at = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const plain = blankComments(text);
  if (!plain.ok) {
    const before = text.slice(0, plain.offset);
    const line = before.split("\n").length;
    return {
      ok: false,
      reason: plain.reason,
      position: { line, column: before.length - before.lastIndexOf("\n") },
    };
  }
  try {
    const document = parseDocument(plain.text, {
      lineCounter: lines,
      prettyErrors: false,
      logLevel: "silent",
    });
    const [error] = document.errors;
    if (error) {
      const [reason = ""] = error.message.split("\n", 1);
      return { ok: false, reason, position: at(error.pos[0]) };
    }
    const value: unknown = document.toJS({ maxAliasCount: 0 });
    const find = (path: readonly string[]) => {
      let node: Node | null = document.contents;
      let offset = node?.range?.[0] ?? 0;
      for (const name of path) {
        const child = childOf(node, name);
        if (!child) return { node, offset, missing: true };
        node = child.value;
        offset = child.offset ?? offset;
      }
      return { node, offset, missing: false };
    };
    const childOf = (node: Node | null, name: string) => {
      if (isSeq(node)) {
        const value = node.items[Number(name)] as Node | undefined;
        return value && { value, offset: value.range?.[0] };
      }
      const pair = isMap(node)
        ? node.items.find(({ key }) => isScalar(key) && String(key.value) === name)
        : undefined;
      return pair && { value: pair.value as Node | null, offset: (pair.key as Node).range?.[0] };
    };
    return {
      ok: true,
      value,
      positionOf: (path) => at(find(path).offset),
      spanOf: (path) => {
        const { node, missing } = find(path);
        const [start, end] = node?.range ?? [];
        return missing || start === undefined || end === undefined ? undefined : { start, end };
      },
    };
  } catch (error) {
    return { ok: false, reason: reasonOf(error), position: { line: 1, column: 1 } };
  }
}

type Blanked =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly reason: string; readonly offset: number };

/** Puts spaces in the place of comments, so that every position stays what it was. */
function blankComments(text: string): Blanked {
  if (text.length > MAX_CHARS)
    return { ok: false, reason: `it is longer than ${MAX_CHARS} characters`, offset: 0 };
  const kept: string[] = [];
  let from = 0;
  let depth = 0;
  const blank = (start: number, end: number) => {
    kept.push(text.slice(from, start), text.slice(start, end).replace(/[^\n\r]/g, " "));
    from = end;
  };
  if (text.startsWith("\uFEFF")) blank(0, 1);
  for (let offset = from; offset < text.length; offset++) {
    const sign = text[offset];
    if (sign === '"') offset = stringEnd(text, offset);
    else if (sign === "{" || sign === "[") depth += 1;
    else if (sign === "}" || sign === "]") depth -= 1;
    else if (sign === "/" && (text[offset + 1] === "/" || text[offset + 1] === "*")) {
      const end = text[offset + 1] === "/" ? lineEnd(text, offset) : blockEnd(text, offset);
      blank(offset, end);
      offset = end - 1;
    }
    if (depth > MAX_DEPTH)
      return { ok: false, reason: `it is nested deeper than ${MAX_DEPTH} levels`, offset };
  }
  kept.push(text.slice(from));
  return { ok: true, text: kept.join("") };
}

/** The offset of the closing quote, or of the end of a string that has none. */
function stringEnd(text: string, start: number): number {
  for (let offset = start + 1; offset < text.length; offset++) {
    if (text[offset] === "\\") offset += 1;
    else if (text[offset] === '"') return offset;
  }
  return text.length;
}

function lineEnd(text: string, start: number): number {
  const end = text.indexOf("\n", start);
  return end === -1 ? text.length : end;
}

function blockEnd(text: string, start: number): number {
  const end = text.indexOf("*/", start + 2);
  return end === -1 ? text.length : end + 2;
}
