import { parse, stringify } from "smol-toml";
import { field, isPlainObject } from "../../../base/util/plain-object.ts";
import type { Format } from "./format.ts";

const HEADER = /^\s*\[/;
const COMMENT = /^\s*#/;

/** TOML. Only whole lines change: the tables of removed servers go, the new ones are appended. */
export const tomlFormat: Format = {
  empty: "",
  read: async (text) => parse(text),
  edit: async (text, { at, remove, set }, eol) => {
    const gone = [...remove, ...Object.keys(set)];
    const kept = withoutTables(text, (path) => gone.some((name) => isWithin(path, [...at, name])));
    const tables = Object.entries(set).map(([name, value]) =>
      stringify(at.reduceRight<object>((inner, key) => ({ [key]: inner }), { [name]: value })),
    );
    return tables.reduce((before, table) => append(before, table.trim().replaceAll("\n", eol), eol), kept);
  },
};

function append(text: string, table: string, eol: string): string {
  const end = text === "" || text.endsWith(eol) ? "" : eol;
  const gap = text.trim() === "" ? "" : eol;
  return `${text}${end}${gap}${table}${eol}`;
}

function withoutTables(text: string, isGone: (path: readonly string[]) => boolean): string {
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const starts = lines.flatMap((line, index) => (HEADER.test(line) && pathOf(line) ? [index] : []));
  const isDropped = new Set<number>();
  for (const [order, start] of starts.entries()) {
    if (!isGone(pathOf(lines[start]!)!)) continue;
    let end = starts[order + 1] ?? lines.length;
    // Comments right above the next table belong to it.
    while (end < lines.length && end > start + 1 && COMMENT.test(lines[end - 1]!)) end -= 1;
    for (let index = start; index < end; index += 1) isDropped.add(index);
  }
  return lines.filter((_, index) => !isDropped.has(index)).join("");
}

/** The keys of a header such as `[mcp_servers."a b".env]`; undefined if the line is something else. */
function pathOf(header: string): readonly string[] | undefined {
  try {
    const path: string[] = [];
    for (let value: unknown = parse(header); ; ) {
      const holder = Array.isArray(value) ? value[0] : value;
      const [key] = isPlainObject(holder) ? Object.keys(holder) : [];
      if (key === undefined) return path.length > 0 ? path : undefined;
      path.push(key);
      value = field(holder, key);
    }
  } catch {
    return undefined;
  }
}

function isWithin(path: readonly string[], parent: readonly string[]): boolean {
  return parent.every((key, index) => path[index] === key);
}
