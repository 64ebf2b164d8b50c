import type { Entry } from "../schema/entry.ts";
import type { JsonSchema } from "../schema/json-schema.ts";
import { cleanText } from "../util/clean-text.ts";
import { checkSchema } from "./check-schema.ts";

const NAME_CHARS = 256;
const TEXT_CHARS = 16_384;
const PROSE_KEYWORDS = new Set(["title", "description", "$comment"]);

/**
 * Makes an entry fit to be shown: nothing a source yields is trusted. Text is cleaned and bounded; an
 * entry whose schema is refused stays listed as invalid, so that it is not silently missing.
 */
export function ingestEntry<T extends Entry>(entry: T): T {
  const refusal = checkSchema(entry.inputSchema);
  return {
    ...entry,
    name: cleanText(entry.name, NAME_CHARS),
    description: cleanText(entry.description, TEXT_CHARS),
    phrases: entry.phrases.map((phrase) => cleanText(phrase, NAME_CHARS)),
    notes: entry.notes.map((note) => cleanText(note, TEXT_CHARS)),
    guidance: entry.guidance.map((step) => ({ ...step, prose: cleanText(step.prose, TEXT_CHARS) })),
    inputSchema: refusal ? {} : (cleanSchema(entry.inputSchema) as JsonSchema),
    ...(refusal && { status: { state: "invalid" as const, reason: `its schema is refused: ${refusal}.` } }),
  };
}

/** Depth is already bounded by `checkSchema`. Values such as `const` and `enum` are data and stay as they are. */
function cleanSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(cleanSchema);
  if (schema === null || typeof schema !== "object") return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => {
      if (PROSE_KEYWORDS.has(keyword) && typeof value === "string")
        return [keyword, cleanText(value, TEXT_CHARS)];
      if (keyword === "const" || keyword === "enum" || keyword === "default" || keyword === "examples") {
        return [keyword, value];
      }
      return [keyword, cleanSchema(value)];
    }),
  );
}
