import { z } from "zod";
import { formatMessage, type MessageTemplate } from "../../base/problems/format-message.ts";
import { toVisibleText } from "../../base/safety/visible-text.ts";
import { cutText } from "../../base/util/cut-text.ts";
import type { Json } from "../../base/util/json.ts";
import { isPlainObject } from "../../base/util/plain-object.ts";
import { type Block, blocksIn, jsonChars, liftBlocks, toContentText } from "../answers/content.ts";
import { endsPage, type PageRest, type ResultPage, toPage } from "../answers/page.ts";
import { isSimulated } from "../calls/make-call.ts";
import { itemPointers, type ReadParams, type Selected } from "../sessions/read-params.ts";
import type { ResultOrigin } from "../storage/result-keeper.ts";
import {
  type AnswerLimits,
  checkOutside,
  MOST_CHARS_PER_TOKEN,
  markOutside,
  type Outside,
} from "./answer-parts.ts";

const leftSchema = z.object({
  /** Params that read on from here. */
  params: z.record(z.string(), z.unknown()),
  unit: z.enum(["items", "fields", "lines", "chars"]),
  /** How many the whole part has, in that unit. */
  of: z.number(),
});

export const storedSchema = z.object({
  handle: z.string(),
  chars: z.number(),
  /** The file with all of it, for a client that reads files. */
  file: z.string().optional(),
  /** How many items of a list are shown, and how many there are. */
  items: z.number().optional(),
  shown: z.number().optional(),
  /** The parts that are not shown. */
  left: z.array(leftSchema),
  read: z.string(),
  /** The headings of a long text, each with the offset of its line. Text of the value, so it is marked like its content. */
  headings: z.string().optional(),
});
export type StoredResult = z.output<typeof storedSchema>;

export const blocksSchema = z.array(z.custom<Block>());

export interface ShownResult {
  readonly content: Json;
  /** Set if the content is only a part of the value. */
  readonly stored?: StoredResult;
  /** Set if a server produced the content (untrusted text). */
  readonly outside?: Outside;
  /** Images, sounds, files and links of the value. */
  readonly blocks?: Block[];
}

/** How a stored result was asked for. */
export interface ResultReading extends Pick<Selected, "pointer" | "pointers"> {
  readonly handle: string;
  readonly how: ReadParams;
}

/** The origin of a value: a stored result, entries, and the server that produced it. */
export interface ResultFrom {
  readonly reading?: ResultReading | undefined;
  /** The entry that returned it, or those that a script called. */
  readonly origin?: ResultOrigin | undefined;
  readonly source?: string | undefined;
}

const READ = "read on by {get} with {params} {steps}";
const OPTIONS = "path, grep, select, sort, group or count";
/** Stands for the handle where tokens are counted: two pages of the same value have the same size. */
const SOME_HANDLE = `result://${"Q7".repeat(11)}`;
const CHARS_PER_TOKEN = 4;
const LEAST_CHARS = 8;
/** A page this full is final; a next try aims at AIM. */
const FULL = 0.85;
const AIM = 0.93;
const MOST_TRIES = 8;
const BYTES_PER_CHAR = 3;
/** Headings further down in a text are not looked for. */
const READ_CHARS = 1_000_000;

/**
 * Shows a value whole if it fits the room, otherwise its beginning and a handle to the rest. A stored result that is
 * read goes on under its own handle. Without a budget the value stays as it came.
 */
export function showResult(value: Json, name: string, room: AnswerLimits, from: ResultFrom): ShownResult {
  const shown = fitResult(value, name, room, from);
  const outside = from.source === undefined ? undefined : checkOutside(bodyText(shown), from.source, room);
  return { ...shown, ...(outside && { outside }) };
}

function fitResult(
  value: Json,
  name: string,
  room: AnswerLimits,
  { reading, origin }: ResultFrom,
): ShownResult {
  if (room.resultTokens === Number.POSITIVE_INFINITY) return { content: value };
  const lifted = liftBlocks(value);
  const all = blocksIn(lifted.value, lifted.blocks);
  if (!isPaged(reading) && all.whole && fullness(lifted.value, undefined, room) <= 1)
    return { content: lifted.value, ...withBlocks(all.blocks) };

  const chars = jsonChars(value);
  const handle = reading?.handle ?? room.keep(value, name, origin);
  const headings = reading ? {} : headingsOf(lifted.value);
  const file = reading ? undefined : room.toFile?.(handle, lifted.value);
  const toShown = ({ content, left }: ResultPage): ShownResult => {
    const { blocks, whole } = blocksIn(content, lifted.blocks);
    if (left.length === 0 && whole) return { content, ...withBlocks(blocks) };
    const isList = Array.isArray(lifted.value) && Array.isArray(content);
    const counts = isList && { items: lifted.value.length, shown: content.length };
    const parts = left.map((part) => {
      const params = paramsOf(part, lifted.value, reading);
      return { params, unit: part.unit, of: part.of };
    });
    const read = formatMessage(howToRead(parts, reading), room.words);
    const stored = { handle, chars, ...(file && { file }), ...counts, left: parts, read, ...headings };
    return { content, stored, ...withBlocks(blocks) };
  };
  const page = reading ? room : { ...room, resultTokens: Math.min(room.resultTokens, room.lookTokens) };
  const text = !reading && origin && "look" in origin ? lifted.value : undefined;
  return fitPage(page, (space) =>
    toShown(typeof text === "string" ? endsPage(text, space) : toPage(lifted.value, space, reading?.how)),
  );
}

/** The fullest page that fits the room; the smallest one if none does. */
function fitPage(room: AnswerLimits, toShown: (space: number) => ShownResult): ShownResult {
  let space = room.resultTokens * CHARS_PER_TOKEN;
  let best: { readonly shown: ShownResult; readonly space: number } | undefined;
  let tooMuch = Number.POSITIVE_INFINITY;
  for (let tries = 1; ; tries++) {
    const shown = toShown(space);
    const full = fullness(shown.content, shown.stored, room);
    if (full <= 1) best = { shown, space };
    else tooMuch = space;
    if (full <= 1 ? full >= FULL || !shown.stored : space <= LEAST_CHARS) return shown;
    if (best && (tries >= MOST_TRIES || tooMuch - best.space <= LEAST_CHARS)) return best.shown;
    const wanted = Math.floor((space * AIM) / Math.max(full, 0.1));
    const halfway = Math.floor(((best?.space ?? 0) + tooMuch) / 2);
    // Halving helps if the size does not follow the space.
    space = Math.max(
      LEAST_CHARS,
      wanted > (best?.space ?? 0) && tries < MOST_TRIES ? Math.min(wanted, tooMuch - 1) : halfway,
    );
  }
}

function isPaged(reading: ResultReading | undefined): boolean {
  const { offset, limit, unit } = reading?.how ?? {};
  return offset !== undefined || limit !== undefined || unit !== undefined;
}

function withBlocks(blocks: readonly Block[]): Pick<ShownResult, "blocks"> {
  if (blocks.length === 0) return {};
  const visible = blocks.map((block) =>
    block.type === "resource_link" ? { ...block, name: toVisibleText(block.name) } : block,
  );
  return { blocks: visible };
}

/** The share of the room that a content and its note take; over 1 if they do not fit. */
function fullness(content: Json, stored: StoredResult | undefined, room: AnswerLimits): number {
  const { resultTokens, answerBytes, countTokens } = room;
  const most = resultTokens * MOST_CHARS_PER_TOKEN;
  const chars = jsonChars(content, most);
  if (chars > most) return Math.max(2, chars / most);
  const note = storedText(stored && { ...stored, handle: SOME_HANDLE });
  const text = `${note}${toVisibleText(bodyText({ content, stored }))}`;
  const bytes =
    answerBytes === Number.POSITIVE_INFINITY ? 0 : Buffer.byteLength(JSON.stringify(text)) / answerBytes;
  // A token has at least one byte, and a character at most three: text this short need not be counted.
  if (stored === undefined && text.length * BYTES_PER_CHAR <= resultTokens) return bytes;
  return Math.max(bytes, countTokens(text) / resultTokens);
}

function paramsOf(left: PageRest, value: Json, reading: ResultReading | undefined): Record<string, unknown> {
  const { path, unit, offset } = left;
  const from = { ...(offset > 0 && { offset }), ...(unit === "chars" && { unit }) };
  const pointer = pointerOf(path, value, reading);
  if (pointer !== undefined) return { ...(pointer !== "" && { path: pointer }), ...from };
  const { offset: _, limit: __, unit: ___, ...how } = reading?.how ?? {};
  // A part that has no place of its own in the result is read as text of all that was asked for.
  return path === "" ? { ...how, ...from } : { ...how, unit: "chars" };
}

/** The place of a part in the stored result. */
function pointerOf(path: string, value: Json, reading: ResultReading | undefined): string | undefined {
  if (!reading) return path;
  if (reading.pointer !== undefined) return `${reading.pointer}${path}`;
  const [, first, ...rest] = path.split("/");
  const item =
    first === undefined ? undefined : itemPointers({ value, pointers: reading.pointers })[Number(first)];
  return item === undefined ? undefined : [item, ...rest].join("/");
}

/** A reader of a page knows the options already. */
function howToRead(left: StoredResult["left"], reading: ResultReading | undefined): MessageTemplate {
  const steps = left.map(({ params, unit, of }) => {
    const isSaid = unit === "items" && params.path === undefined;
    return `${JSON.stringify(params)}${isSaid ? "" : ` (of ${of} ${unit})`}`;
  });
  const options = reading ? [] : [OPTIONS];
  return { sentences: READ, fills: { steps: [...steps, ...options].join(" or ") } };
}

/** Tells where the rest of a stored result is. It stands before the content, where no client cuts it off. */
export function storedText(stored: StoredResult | undefined): string {
  if (!stored) return "";
  const { handle, chars, file, items, shown, read } = stored;
  const part = shown === undefined || shown === items ? "a part" : `${shown} of ${items} items`;
  const places = `${handle}${file === undefined ? "" : ` and in ${file}`}`;
  return `[${part}, all ${chars} characters at ${places}${read === "" ? "" : `; ${read}`}]\n`;
}

const HEADING = /^#{1,4} +(\S.*)$/;
const MOST_HEADINGS = 12;
const HEADING_CHARS = 40;

/** The headings of a text, or of the longest text of a record, as a reader of Markdown would list them. */
function headingsOf(value: Json): { headings?: string } {
  const texts = typeof value === "string" ? [value] : isPlainObject(value) ? Object.values(value) : [];
  const [text = ""] = texts
    .filter((one) => typeof one === "string")
    .sort((one, other) => other.length - one.length);
  const found: string[] = [];
  for (const [at, line] of text.slice(0, READ_CHARS).split("\n").entries()) {
    const heading = HEADING.exec(line)?.[1];
    if (heading !== undefined) found.push(`${at} ${cutText(heading, HEADING_CHARS)}`);
    if (found.length === MOST_HEADINGS) break;
  }
  return found.length > 1 ? { headings: found.join("; ") } : {};
}

/** The text of a shown value, its headings first. All of it comes from where the value comes from. */
function bodyText({ content, stored }: Pick<Result, "content" | "stored">): string {
  const headings = stored?.headings === undefined ? "" : `[headings by offset: ${stored.headings}]\n`;
  return `${headings}${toContentText((content ?? null) as Json)}`;
}

interface Result extends Omit<ShownResult, "content"> {
  readonly content: unknown;
  readonly dryRun?: boolean | undefined;
}

/** Writes a result for a model. A model that tried a call knows its args. */
export function resultText({ content, stored, outside, dryRun }: Result): string {
  if (dryRun && isSimulated(content)) return "Would run with these args.";
  return `${storedText(stored)}${markOutside(bodyText({ content, stored }), outside)}`;
}
