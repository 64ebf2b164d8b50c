import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from "yaml";
import { z } from "zod";
import { problem } from "../../../base/problems/problem.ts";
import { toVisibleText } from "../../../base/safety/visible-text.ts";
import { isPlainObject } from "../../../base/util/plain-object.ts";
import { reasonOf } from "../../../base/util/reason-of.ts";

const MAX_TEXT_CHARS = 4 * 2 ** 20;
const MAX_YAML_CHARS = 64 * 2 ** 10;
const MAX_DEPTH = 16;
const MAX_VALUES = 10_000;
const MAX_ALIASES = 50;
const TOO_DEEP = "it is nested too deeply";

/** A Markdown file with its front matter read as data. */
export interface FrontMatter {
  /** Objects have no prototype, so that `constructor` is an ordinary name. */
  readonly data: Readonly<Record<string, unknown>>;
  /** Scalar top-level fields as written: `version: 1.10` would be 1.1 as data. */
  readonly written: Readonly<Record<string, string>>;
  /** The front matter with mistakes repaired. */
  readonly yaml: string;
  /** Line of each top-level field in the file. */
  readonly lines: Readonly<Record<string, number>>;
  readonly body: string;
  /** First line of the body, counted from 1. */
  readonly bodyLine: number;
}

/**
 * Reads a Markdown file with or without front matter. Repairs common mistakes: a byte order mark, Windows line ends,
 * tabs, a colon in plain text.
 *
 * @throws FILE_INVALID with the location of any other mistake.
 */
export function parseFrontMatter(text: string, file: string): FrontMatter {
  if (text.length > MAX_TEXT_CHARS)
    throw fileProblem(file, 1, 1, `it is longer than ${MAX_TEXT_CHARS} characters`);
  const whole = text.replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n");
  const split = splitFile(whole, file);
  if (split === undefined) return { ...noFields(), yaml: "", body: whole, bodyLine: 1 };
  return { ...readYaml(split.yaml, file), body: split.body, bodyLine: split.bodyLine };
}

export function fileProblem(file: string, line: number, column: number, reason: string) {
  return problem("FILE_INVALID", { file, line, column, reason }, { file, line, column, reason });
}

function splitFile(whole: string, file: string) {
  const start = whole.indexOf("\n") + 1;
  if (start === 0 || whole.slice(0, start).trimEnd() !== "---" || whole[0] !== "-") return undefined;
  let line = 2;
  for (let at = start; at < whole.length; line += 1) {
    const next = whole.indexOf("\n", at);
    const end = next === -1 ? whole.length : next;
    if (end - start > MAX_YAML_CHARS)
      throw fileProblem(file, line, 1, `its front matter is longer than ${MAX_YAML_CHARS} characters`);
    if (isFence(whole, at, end))
      return { yaml: whole.slice(start, at), body: whole.slice(end + 1), bodyLine: line + 1 };
    at = end + 1;
  }
  throw fileProblem(file, 1, 1, "its front matter is not closed by a line of ---");
}

function isFence(whole: string, from: number, to: number): boolean {
  if (!whole.startsWith("---", from) && !whole.startsWith("...", from)) return false;
  return whole.slice(from + 3, to).trim() === "";
}

type MatterFields = Pick<FrontMatter, "data" | "written" | "lines">;

function readYaml(yaml: string, file: string): MatterFields & { readonly yaml: string } {
  const first = parseYaml(yaml, file);
  const [fault] = first.faults;
  if (fault === undefined) return { ...toFields(first, file), yaml };
  const faulty = first.faults.map(({ line }) => line);
  const repaired = repairYaml(yaml, faulty);
  const second = parseYaml(repaired, file);
  if (second.faults.length === 0) return { ...toFields(second, file), yaml: repaired };
  throw fileProblem(file, fault.line + 1, fault.column, fault.reason);
}

/** Lines are those of the YAML, from 1. The file has one line before it. */
function parseYaml(yaml: string, file: string) {
  const lineCounter = new LineCounter();
  const placeAt = (offset: number) => {
    const { line, col } = lineCounter.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  try {
    // The YAML library's own check for duplicate keys takes quadratic time.
    const document = parseDocument(yaml, {
      lineCounter,
      schema: "core",
      uniqueKeys: false,
      prettyErrors: false,
      logLevel: "silent",
    });
    const faults = [...document.errors, ...document.warnings].map(({ pos, message }) => ({
      ...placeAt(pos[0]),
      reason: message.startsWith("Maximum call stack") ? TOO_DEEP : lowerFirst(message),
    }));
    const placeOf = (node: unknown) => placeAt((node as Node | undefined)?.range?.[0] ?? 0);
    return { document, faults, placeOf };
  } catch (error) {
    const reason = error instanceof RangeError ? TOO_DEEP : reasonOf(error);
    throw fileProblem(file, 2, 1, reason);
  }
}

/** Walks the nodes itself to count every value, with aliases expanded. */
function toFields({ document, placeOf }: ReturnType<typeof parseYaml>, file: string): MatterFields {
  let values = 0;
  let aliases = 0;
  const { written, lines } = noFields();
  const { contents } = document;
  if (contents === null || (isScalar(contents) && contents.value === null)) return noFields();
  if (!isMap(contents)) throw refuse(contents, "the front matter is not a list of fields with values");
  const data = read(contents, 0) as Record<string, unknown>;
  return { data, written, lines };

  function read(node: unknown, depth: number): unknown {
    values += 1;
    if (values > MAX_VALUES) throw refuse(node, `it has more than ${MAX_VALUES} values`);
    if (depth > MAX_DEPTH) throw refuse(node, `it is nested more than ${MAX_DEPTH} deep`);
    if (node === null || node === undefined) return null;
    if (isScalar(node)) return scalarValue(node.value, node.source);
    if (isSeq(node)) return node.items.map((item) => read(item, depth + 1));
    if (isAlias(node)) {
      aliases += 1;
      if (aliases > MAX_ALIASES) throw refuse(node, `it has more than ${MAX_ALIASES} aliases`);
      return read(node.resolve(document), depth + 1);
    }
    if (!isMap(node)) throw refuse(node, "it has a value of an unknown kind");
    const record = emptyRecord();
    for (const { key, value } of node.items) {
      const name = isScalar(key) ? toVisibleText(key.source ?? String(key.value)) : undefined;
      if (name === undefined) throw refuse(key, "the name of a field is not plain text");
      if (Object.hasOwn(record, name)) throw refuse(key, `the field ${name} occurs twice`);
      if (depth === 0) lines[name] = placeOf(key).line + 1;
      if (depth === 0 && isScalar(value) && value.value !== null)
        written[name] = toVisibleText(value.source ?? String(value.value));
      record[name] = read(value, depth + 1);
    }
    return record;
  }

  function refuse(node: unknown, reason: string) {
    const { line, column } = placeOf(node);
    return fileProblem(file, line + 1, column, reason);
  }
}

/** Values of YAML tags, such as dates and bytes, stay as written. Escapes in YAML can spell hidden characters. */
function scalarValue(value: unknown, source: string | undefined): unknown {
  if (typeof value === "string") return toVisibleText(value);
  if (typeof value === "number" || typeof value === "boolean" || value === null) return value;
  return source === undefined ? null : toVisibleText(source);
}

function noFields() {
  return { data: emptyRecord(), written: emptyRecord<string>(), lines: emptyRecord<number>() };
}

function emptyRecord<T = unknown>(): Record<string, T> {
  return Object.create(null);
}

function lowerFirst(message: string): string {
  return message.slice(0, 1).toLowerCase() + message.slice(1);
}

const FIELD = /^([A-Za-z0-9_.-]{1,100})[ \t]*:(?:[ \t]+|$)/;
const NESTED_FIELD = /^([ \t]+(?:- )?[A-Za-z0-9_.-]{1,100}:[ \t]+|[ \t]*- )/;

const MAX_QUOTED_CHARS = 4_000;

/** Not repaired: the end of a quote or block cannot be guessed, and a tag is intended. */
const NOT_PLAIN = /^["'|>!&]/;

/** Quotes the values on faulty lines and turns tabs at line starts into blanks. Every value keeps its line. */
function repairYaml(yaml: string, faultyLines: readonly number[]): string {
  const lines = yaml.split("\n").map(untab);
  for (const line of new Set(faultyLines)) repairAt(lines, line - 1);
  return lines.join("\n");
}

function untab(line: string): string {
  const end = line.length - line.trimStart().length;
  return line.slice(0, end).replaceAll("\t", "  ") + line.slice(end);
}

function repairAt(lines: string[], faulty: number): void {
  let first = Math.min(faulty, lines.length - 1);
  while (first > 0 && !FIELD.test(lines[first]!)) first -= 1;
  const head = FIELD.exec(lines[first]!)?.[0];
  if (head === undefined) return;
  const value = lines[first]!.slice(head.length).trim();
  if (value === "") quoteNested(lines, faulty);
  if (value === "" || NOT_PLAIN.test(value)) return;
  let next = first + 1;
  while (next < lines.length && /^[ \t]+\S/.test(lines[next]!)) next += 1;
  const parts = lines.slice(first, next).map((line) => line.trim());
  const text = parts.join(" ");
  if (text.length > MAX_QUOTED_CHARS) return;
  lines[first] = `${head.trimEnd()} ${quote(text.slice(head.trimEnd().length))}`;
  lines.fill("", first + 1, next);
}

function quoteNested(lines: string[], at: number): void {
  const head = NESTED_FIELD.exec(lines[at] ?? "")?.[0];
  if (head === undefined) return;
  const value = lines[at]!.slice(head.length).trim();
  if (value === "" || NOT_PLAIN.test(value)) return;
  lines[at] = head + quote(value);
}

function quote(text: string): string {
  return `'${text.trim().replaceAll("'", "''")}'`;
}

const MAX_WORDS = 64;
const MAX_CHARS = 1_024;

const scalar = z.union([z.string(), z.number()]).transform((value) => toVisibleText(String(value)).trim());
const line = scalar.pipe(z.string().min(1).max(MAX_CHARS));
const list = z.array(z.preprocess(joinColon, line)).max(MAX_WORDS);

/** A field without a value counts as absent. */
export const text = orAbsent(line.optional());
/** A list of short words; `a, b` is a list too. */
export const words = orAbsent(z.preprocess(splitCommas, list.optional()));
/** A list of sentences; a text is a list of one. */
export const sentences = orAbsent(
  z.preprocess((value) => (isPlainText(value) ? [value] : value), list.optional()),
);
export const tokens = orAbsent(z.int().positive().optional());
/** Fails closed: an empty field is an error, because the author meant to restrict access. */
export const scopes = z
  .preprocess(splitCommas, list.min(1).optional())
  .transform((value): readonly string[] => value ?? []);

/**
 * Reads front matter by a schema.
 *
 * @throws FILE_INVALID at the line of the first wrong field.
 */
export function readFields<S extends z.ZodType>(
  schema: S,
  { data, lines }: FrontMatter,
  file: string,
): z.output<S> {
  const parsed = schema.safeParse(data);
  if (parsed.success) return parsed.data;
  const { path, message } = parsed.error.issues[0]!;
  const field = String(path[0] ?? "");
  const line = Object.hasOwn(lines, field) ? lines[field]! : 1;
  throw fileProblem(file, line, 1, `${path.join(".")}: ${message}`);
}

function orAbsent<S extends z.ZodType>(schema: S) {
  return z.preprocess((value) => value ?? undefined, schema);
}

/** YAML reads the list item `REST APIs: with Node` as a field with a value, but the author meant text. */
function joinColon(item: unknown): unknown {
  const [field, ...others] = isPlainObject(item) ? Object.entries(item) : [];
  if (field === undefined || others.length > 0 || !scalar.safeParse(field[1]).success) return item;
  return field.join(": ");
}

/** Fields that are lists of texts. */
const TEXT_LISTS = ["tags", "capabilities", "useWhen", "related"];

/** The fields with an item that {@link joinColon} turns into text. */
export function fieldsWithColons({ data }: FrontMatter): string[] {
  return TEXT_LISTS.filter((field) => Array.isArray(data[field]) && data[field].some(isPlainObject));
}

function splitCommas(value: unknown): unknown {
  if (!isPlainText(value)) return value;
  const parts = value.split(",").map((part) => part.trim());
  return parts.filter((part) => part !== "");
}

/** An unclosed list reads as text; its items cannot be guessed. */
function isPlainText(value: unknown): value is string {
  return typeof value === "string" && !/^\s*[[{]/.test(value);
}
