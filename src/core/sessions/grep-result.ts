import { RE2JS } from "re2js";
import { escapePart } from "../../base/json-schema/walk-schema.ts";
import { codePointBoundary } from "../../base/util/cut-text.ts";
import type { Json } from "../../base/util/json.ts";
import { toPlainText } from "../nouns/plain-text.ts";
import { itemPointers, type Selected } from "./read-params.ts";

/** Larger items and longer lines show only the text around the match. */
const WHOLE_CHARS = 1_000;
const AROUND_CHARS = 200;
const MOST_MATCHES = 10_000;

interface GrepMatch {
  readonly start: number;
  readonly end: number;
}
type Find = (text: string) => GrepMatch[];

/**
 * Keeps matches, ignoring case: numbered lines of a text, items of a list, fields of a record. A long line or large
 * item shows only the text around each match, after the position to read on from.
 */
export function grepResult(selected: Selected, pattern: string): Selected {
  const find = finder(pattern);
  const { value, pointer } = selected;
  if (typeof value === "string") return { value: grepLines(value, find).join("\n") };
  if (value === null || typeof value !== "object")
    return { value: find(toPlainText(value)).length > 0 ? value : null };
  if (Array.isArray(value)) {
    const pointers = itemPointers(selected);
    const matching = value.flatMap((item, at) => grepItem(item, pointers[at], find));
    return { value: matching.map((one) => one.value), pointers: matching.map((one) => one.pointer) };
  }
  const fields = Object.entries(value).filter(([key, field]) =>
    [key, toPlainText(field)].some((text) => find(text).length > 0),
  );
  if (fields.every(([, field]) => toPlainText(field).length <= WHOLE_CHARS))
    return { value: Object.fromEntries(fields) };
  const matchingFields = fields.flatMap(([key, field]) => {
    const at = pointer === undefined ? undefined : `${pointer}/${escapePart(key)}`;
    return toPlainText(field).length <= WHOLE_CHARS
      ? [{ value: { [key]: field }, pointer: undefined }]
      : grepItem(field, at, find);
  });
  return {
    value: matchingFields.map((one) => one.value),
    pointers: matchingFields.map((one) => one.pointer),
  };
}

function grepLines(text: string, find: Find): string[] {
  const lines: string[] = [];
  let start = 0;
  for (const [number, line] of text.split("\n").entries()) {
    if (lines.length >= MOST_MATCHES) break;
    const hits = find(line);
    if (hits.length > 0 && line.length <= WHOLE_CHARS) lines.push(`${number}: ${line}`);
    else
      lines.push(
        ...excerpts(line, hits).map(
          ({ at, part }) => `${number} (unit chars, offset ${start + at}): ${part}`,
        ),
      );
    start += line.length + 1;
  }
  return lines;
}

interface GrepWindow {
  readonly value: Json;
  readonly pointer: string | undefined;
}

function grepItem(item: Json, pointer: string | undefined, find: Find): GrepWindow[] {
  const text = toPlainText(item);
  if (find(text).length === 0) return [];
  if (text.length <= WHOLE_CHARS) return [{ value: item, pointer }];
  const inside = textsIn(item, pointer ?? "").flatMap(({ path, text: part }) =>
    excerpts(part, find(part)).map(
      (excerpt): GrepWindow => ({
        value: {
          ...(pointer !== undefined && { path }),
          unit: "chars",
          offset: excerpt.at,
          match: excerpt.part,
        },
        pointer: undefined,
      }),
    ),
  );
  return inside.length > 0 ? inside : [{ value: item, pointer }];
}

/** The text around matches. Overlapping parts are joined. */
function excerpts(text: string, hits: readonly GrepMatch[]): { at: number; part: string }[] {
  const parts: { at: number; end: number }[] = [];
  for (const { start, end } of hits.slice(0, MOST_MATCHES)) {
    const at = codePointBoundary(text, Math.max(0, start - AROUND_CHARS));
    const until = codePointBoundary(
      text,
      Math.min(text.length, Math.min(end, start + WHOLE_CHARS) + AROUND_CHARS),
    );
    const last = parts.at(-1);
    if (last && at <= last.end && until - last.at <= WHOLE_CHARS) last.end = until;
    else parts.push({ at, end: until });
  }
  return parts.map(({ at, end }) => ({ at, part: text.slice(at, end) }));
}

/** Texts in a value with their JSON pointers. */
function textsIn(value: Json, path: string): { path: string; text: string }[] {
  if (typeof value === "string") return [{ path, text: value }];
  if (value === null || typeof value !== "object") return [{ path, text: String(value) }];
  return Object.entries(value).flatMap(([key, field]) => textsIn(field, `${path}/${escapePart(key)}`));
}

function finder(pattern: string): Find {
  const compiled = compile(pattern);
  return (text) => {
    const matcher = compiled.matcher(text);
    const matches: GrepMatch[] = [];
    while (matches.length < MOST_MATCHES && matcher.find())
      matches.push({ start: matcher.start(), end: matcher.end() });
    return matches;
  };
}

/** Compiles a linear-time regular expression. An invalid pattern matches literally. */
function compile(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE);
  } catch {
    return RE2JS.compile(RE2JS.quote(pattern), RE2JS.CASE_INSENSITIVE);
  }
}
