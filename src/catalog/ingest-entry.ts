import type { Entry, Presentation } from "../schema/entry.ts";
import type { JsonSchema } from "../schema/json-schema.ts";
import { cleanText } from "../util/clean-text.ts";
import { toJson } from "../util/to-json.ts";
import { checkSchema } from "./check-schema.ts";

const NAME_CHARS = 256;
const TEXT_CHARS = 16_384;
/** What is only passed on may be pictures, but is no place to store things in. */
const PASSED_ON_CHARS = 65_536;
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
    ...(entry.presentation && { presentation: cleanPresentation(entry.presentation) }),
    ...(refusal && { status: { state: "invalid" as const, reason: `its schema is refused: ${refusal}.` } }),
  };
}

/** Words are cleaned; what is data stays as it is, or goes where it is too much. */
function cleanPresentation(presentation: Presentation): Presentation {
  const { title, annotations, outputSchema, icons, size, _meta } = presentation;
  const named = typeof annotations?.title === "string" && { title: cleanText(annotations.title, NAME_CHARS) };
  const usable = outputSchema && !checkSchema(outputSchema);
  return {
    ...(title !== undefined && { title: cleanText(title, NAME_CHARS) }),
    ...(isModest(annotations) && { annotations: { ...annotations, ...named } }),
    ...(usable && { outputSchema: cleanSchema(outputSchema) as JsonSchema }),
    ...(isModest(icons) && { icons }),
    ...(size !== undefined && { size }),
    ...(isModest(_meta) && { _meta }),
  };
}

function isModest<T>(value: T | undefined): value is T {
  if (value === undefined) return false;
  const json = toJson(value);
  return json.ok && JSON.stringify(json.value).length <= PASSED_ON_CHARS;
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
