import { z } from "zod";
import { jsonChars, preview } from "../render/preview.ts";
import { type Saying, say } from "../schema/say.ts";
import type { Json } from "../util/json.ts";
import { toVisibleText } from "../util/visible-text.ts";
import { checkOutside, markOutside, type Outside } from "./mark-outside.ts";
import type { Room } from "./room.ts";

export const storedSchema = z.object({
  handle: z.string(),
  chars: z.number(),
  items: z.number().optional(),
  shown: z.number().optional(),
  read: z.string(),
});
export type Stored = z.output<typeof storedSchema>;

export interface Shown {
  readonly content: Json;
  /** Set if the content is only the beginning of the value. */
  readonly stored?: Stored;
  /** Set if others wrote the content. */
  readonly outside?: Outside;
}

const READ: Saying = {
  sentences: "read it by {get} with {params} path, grep, fields, offset, limit or count",
};
const CHARS_PER_TOKEN = 3;
/** No tokenizer packs more than this into a token of ordinary text; longer text need not be counted. */
const MOST_CHARS_PER_TOKEN = 12;
const BYTES_PER_CHAR = 3;

/**
 * Shows a value whole if it fits the budget, otherwise its beginning and a handle to the rest. `source` names the
 * others who wrote it, if any did.
 */
export function showResult(value: Json, name: string, room: Room, source: string | undefined): Shown {
  const shown = fitResult(value, name, room);
  const outside = source === undefined ? undefined : checkOutside(toText(shown.content), source);
  return { ...shown, ...(outside && { outside }) };
}

function fitResult(value: Json, name: string, room: Room): Shown {
  const budget = room.resultTokens;
  if (withinBudget(value, budget, room)) return { content: value };

  const chars = jsonChars(value);
  const handle = room.keep(value, chars, name);
  let space = budget * CHARS_PER_TOKEN;
  let content = preview(value, space);
  while (!withinBudget(content, budget, room) && space > 8) {
    space = Math.floor(space / 2);
    content = preview(value, space);
  }
  const counts =
    Array.isArray(value) && Array.isArray(content) ? { items: value.length, shown: content.length } : {};
  return { content, stored: { handle, chars, ...counts, read: say(READ, room.words) } };
}

/** Tells where the rest of a stored result is. */
export function storedText(stored: Stored | undefined): string {
  if (!stored) return "";
  const part = stored.shown === undefined ? "beginning" : `${stored.shown} of ${stored.items} items`;
  return `\n[${part}; all ${stored.chars} characters at ${stored.handle}: ${stored.read}]`;
}

/** Writes a value for a model: text stays text, anything else is JSON. Text of others is marked. */
export function toContentText(value: Json, outside?: Outside): string {
  return markOutside(toText(value), outside);
}

function toText(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function withinBudget(value: Json, budget: number, { countTokens }: Room): boolean {
  if (budget === Number.POSITIVE_INFINITY) return true;
  const most = budget * MOST_CHARS_PER_TOKEN;
  if (jsonChars(value, most) > most) return false;
  const text = toVisibleText(toText(value));
  // A token has at least one byte, and a character at most three: text this short need not be counted.
  return text.length * BYTES_PER_CHAR <= budget || countTokens(text) <= budget;
}
