import type { RawContent } from "../../../schema/pipeline.ts";
import { problem } from "../../../schema/problem.ts";
import { type Fields, field, isFields } from "../../../util/fields.ts";
import { toVisibleText } from "../../../util/visible-text.ts";

/** Parses a JSON document. Throws SOURCE_INVALID if it is not an object. */
export function readJson({ name, content }: RawContent): Fields {
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch {
    value = undefined;
  }
  if (isFields(value)) return value;
  throw problem("SOURCE_INVALID", { name, reason: "the document is not a JSON object" });
}

/** Reads a text or number field, cleaned and trimmed; empty if it is missing. */
export function wordsOf(holder: unknown, name: string): string {
  const value = field(holder, name);
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return typeof value === "string" ? toVisibleText(value).trim() : "";
}

/** Joins the parts that are not empty. */
export function paragraphs(...parts: readonly (string | false | undefined)[]): string {
  return parts.filter(Boolean).join("\n\n");
}

/** Returns `label: value`, or an empty text without a value. */
export function labelled(label: string, value: string): string {
  return value === "" ? "" : `${label}: ${value}`;
}

export function lines(...parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join("\n");
}
