import { z } from "zod";
import { toVisibleText } from "../../util/visible-text.ts";
import { type FrontMatter, fileProblem } from "./files/front-matter.ts";

const MAX_WORDS = 64;
const MAX_CHARS = 1_024;

const scalar = z.union([z.string(), z.number()]).transform((value) => toVisibleText(String(value)).trim());
const line = scalar.pipe(z.string().min(1).max(MAX_CHARS));
const list = z.array(line).max(MAX_WORDS);

/** A field without a value counts as absent. */
export const text = orAbsent(line.optional());
/** A list of short words; `a, b` is a list too. */
export const words = orAbsent(z.preprocess(splitCommas, list.optional()));
/** A list of sentences; a text is a list of one. */
export const sentences = orAbsent(
  z.preprocess(
    (value) => (typeof value === "string" && !/^\s*[[{]/.test(value) ? [value] : value),
    list.optional(),
  ),
);
export const tokens = orAbsent(z.int().positive().optional());
/** Fails closed: an empty field is an error, because its author meant to restrict access. */
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

function splitCommas(value: unknown): unknown {
  // A list that was not closed is read as text; its items cannot be guessed.
  if (typeof value !== "string" || /^\s*[[{]/.test(value)) return value;
  return value
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}
