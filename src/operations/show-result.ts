import { z } from "zod";
import { jsonChars, preview } from "../render/preview.ts";
import type { Json } from "../util/json.ts";
import type { OperationContext } from "./operation.ts";

export const storedSchema = z.object({
  handle: z.string(),
  chars: z.number(),
  items: z.number().optional(),
  shown: z.number().optional(),
  read: z.string(),
});

export interface Shown {
  readonly content: Json;
  /** Set where the content is only the beginning of what was returned. */
  readonly stored?: z.output<typeof storedSchema>;
}

const CHARS_PER_TOKEN = 3;
/** No tokenizer packs more than this into a token of ordinary text; longer than that need not be counted. */
const MOST_CHARS_PER_TOKEN = 12;
const BYTES_PER_CHAR = 3;

/** A value as the caller sees it: whole within the budget, else its beginning and a handle to the rest. */
export function showResult(value: Json, context: OperationContext): Shown {
  const budget = context.limits.resultTokens;
  if (withinBudget(value, budget, context)) return { content: value };

  const chars = jsonChars(value);
  const handle = context.results.put(value, chars, context.view.principal.id);
  let room = budget * CHARS_PER_TOKEN;
  let content = preview(value, room);
  while (!withinBudget(content, budget, context) && room > 8) {
    room = Math.floor(room / 2);
    content = preview(value, room);
  }
  const counts =
    Array.isArray(value) && Array.isArray(content) ? { items: value.length, shown: content.length } : {};
  const read = "get this handle with params path, grep, fields, offset, limit or count";
  return { content, stored: { handle, chars, ...counts, read } };
}

function withinBudget(value: Json, budget: number, { countTokens }: OperationContext): boolean {
  if (budget === Number.POSITIVE_INFINITY) return true;
  const most = budget * MOST_CHARS_PER_TOKEN;
  if (jsonChars(value, most) > most) return false;
  const text = toContentText(value);
  // A token is a byte at least, and a character three at most: what is short enough need not be counted.
  return text.length * BYTES_PER_CHAR <= budget || countTokens(text) <= budget;
}

/** Text stays text; anything else is JSON. */
export function toContentText(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
