import { z } from "zod";
import { problem } from "../../base/problems/problem.ts";
import { toVisibleText } from "../../base/safety/visible-text.ts";
import { fitPieces, type Piece } from "../../base/tokens/fit-pieces.ts";
import type { TokenCounter } from "../../base/tokens/tokens.ts";
import { addressOf } from "../../base/util/address-of.ts";
import { toSummary } from "../../base/util/to-summary.ts";
import type { View } from "../access/view.ts";
import { hitForms, hitLine, ruleId, ruleText } from "../answers/hit.ts";
import type { Entity, Entry } from "../nouns/entry.ts";
import { mayStillRead } from "../sessions/read-conditions.ts";
import type { ToolUse, WorkingMemory } from "../sessions/working-memory.ts";
import { CURRENT_SESSION, handleOf } from "../storage/session-store.ts";
import type { OperationContext } from "./operation.ts";

const paramsSchema = z.strictObject({ maxTokens: z.int().min(50).max(4_000).default(400) });

/** The loss to the reader by kind of line. The cheapest goes first; lines shrink before they are dropped. */
const PRICE = { shorter: 1, shorterRule: 2, signatureOnly: 3, bare: 4, result: 5, rule: 6, line: 7 };
const SHORT_RULE_CHARS = 80;

/** The content of a session, for an agent whose context was condensed. */
export async function showSession(
  address: string,
  params: unknown,
  context: OperationContext,
): Promise<string> {
  const parsed = paramsSchema.safeParse(params);
  if (!parsed.success) {
    const reason = "session:// takes the param maxTokens, from 50 to 4000";
    throw problem("INVALID_INPUT", { operation: address, reason });
  }
  const memory = await memoryAt(address, context);
  const { view } = context;
  const { discoveredTools, unveiled, entities } = memory;
  const discovered = new Set(entriesOf(discoveredTools, view));
  const groups = [
    summaryGroup(memory.summary ?? ""),
    linesOf("Found:", toolPieces(discovered, memory)),
    linesOf(
      "Unveiled:",
      entriesOf(unveiled, view).flatMap((entry) => (discovered.has(entry) ? [] : [entryPiece(entry, "")])),
    ),
    linesOf("", rulePieces(memory, view), "rules: "),
    entityGroup(entities.filter(({ needs }) => !needs || mayStillRead(view, needs))),
    linesOf("Stored results:", await resultPieces(memory, context)),
  ];
  const text = fitLines(groups, parsed.data.maxTokens, context.countTokens);
  return text === "" ? "Nothing has been unveiled in this session yet." : text;
}

async function memoryAt(
  address: string,
  { session, sessions, view }: OperationContext,
): Promise<WorkingMemory> {
  if (address !== CURRENT_SESSION) return sessions.read(handleOf(address), view.principal.id);
  if (!session) throw problem("UNKNOWN_HANDLE", { handle: handleOf(address) });
  return session.memory;
}

/** Newest first, without entries that the caller can no longer see. */
function entriesOf(names: readonly string[], view: View): Entry[] {
  return names.toReversed().flatMap((name) => view.find(name) ?? []);
}

function toolPieces(entries: Iterable<Entry>, { usedTools }: WorkingMemory): Piece[] {
  const uses = new Map(usedTools.map((use) => [use.name, use]));
  return [...entries].map((entry) => {
    const use = uses.get(addressOf(entry));
    return entryPiece(entry, use ? ` (used ${usesText(use)})` : "");
  });
}

function rulePieces({ rules }: WorkingMemory, view: View): Piece[] {
  const delivered = new Set(rules);
  return [...view.domains.values()]
    .flatMap((domain) => domain.rules)
    .filter((rule) => delivered.has(ruleId(rule)))
    .map((rule) => {
      const short = { ...rule, text: toSummary(rule.text, SHORT_RULE_CHARS) };
      return { forms: [ruleText(rule), ruleText(short), ""], prices: [PRICE.shorterRule, PRICE.rule] };
    });
}

async function resultPieces(
  { results }: WorkingMemory,
  { results: store, view }: OperationContext,
): Promise<Piece[]> {
  const seen = results.filter(({ needs }) => mayStillRead(view, needs));
  const stored = await Promise.all(seen.map(({ handle }) => store.has(handle, view.principal.id)));
  return seen
    .filter((_, at) => stored[at])
    .toReversed()
    .map(({ handle, name }) => wholePiece(`- ${handle} of ${quoted(name)}`, PRICE.result));
}

function entryPiece(entry: Entry, note: string): Piece {
  const forms = hitForms(entry).map((hit) => hitLine(hit) + note);
  return { forms: [...forms, ""], prices: [PRICE.shorter, PRICE.signatureOnly, PRICE.bare, PRICE.line] };
}

function wholePiece(line: string, price: number): Piece {
  return { forms: [line, ""], prices: [price] };
}

function usesText({ count, lastResult }: ToolUse): string {
  return `${count}x${lastResult === "error" ? ", last failed" : ""}`;
}

/** One line for each piece, below a heading. */
function linesOf(heading: string, pieces: readonly Piece[], counted = ""): LineGroup {
  return {
    pieces,
    toText: (lines, left) => {
      const omitted = left ? [`[left out: ${counted}${left}; read again with a larger maxTokens]`] : [];
      return [...(heading ? [heading] : []), ...lines, ...omitted].join("\n");
    },
  };
}

/** All pieces in one line. */
function listOf(
  heading: string,
  pieces: readonly Piece[],
  join = (items: readonly string[]) => items.join(", "),
): LineGroup {
  return {
    pieces,
    toText: (items, left) => {
      if (items.length === 0) return `${heading}: ${left} left out`;
      return `${heading}: ${join(items)}${left === 0 ? "" : ` and ${left} more`}`;
    },
  };
}

/** Lines that belong together, and how the shown lines become text. */
interface LineGroup {
  readonly pieces: readonly Piece[];
  /** `left` is the number of omitted lines. */
  toText(lines: readonly string[], left: number): string;
}

/** The fullest text of all groups, at least a line each, within the budget. Empty if nothing fits. */
function fitLines(groups: readonly LineGroup[], maxTokens: number, countTokens: TokenCounter): string {
  const pieces = groups.flatMap((group) => group.pieces);
  for (let room = maxTokens; room > 0; ) {
    const forms = fitPieces(pieces, room, countTokens);
    const text = assemble(groups, forms);
    const tokens = countTokens(text);
    if (tokens <= maxTokens) return text;
    room -= Math.max(4, tokens - maxTokens);
  }
  return "";
}

function assemble(groups: readonly LineGroup[], forms: readonly number[]): string {
  let at = 0;
  const texts = groups.map(({ pieces, toText }) => {
    const shown = pieces.map((piece, index) => piece.forms[forms[at + index]!]!);
    at += pieces.length;
    const lines = shown.filter((line) => line !== "");
    return pieces.length === 0 ? "" : toText(lines, shown.length - lines.length);
  });
  return texts.filter((text) => text !== "").join("\n");
}

const MAX_TOKENS = 300;
const OPEN = "<working-memory>";
const CLOSE = "</working-memory>";
const SUMMARY_FORMS = [600, 200, 80];
/** The loss to the reader by kind of line. The cheapest goes first, and the oldest among equals. */
const MEMORY_PRICE = {
  oldUse: 1,
  oldTool: 2,
  use: 3,
  shorterSummary: 4,
  entityName: 5,
  entity: 6,
  summary: 7,
  tool: 8,
};
/** This many of the newest are worth more. */
const RECENT = 10;

/**
 * Renders the memory of a session for a system prompt; empty for a new session. Outside text becomes JSON strings,
 * which cannot close the block or begin a line. See {@link Session} and {@link loadTokenCounter}.
 * @example
 * ```ts
 * import { createGateway, loadTokenCounter, renderWorkingMemory } from "keyhole";
 *
 * const gateway = createGateway({ domains: [] });
 * const session = await gateway.session(await gateway.openSession());
 * const block = renderWorkingMemory(session.memory, await loadTokenCounter());
 * console.assert(block === "");
 * await gateway.close();
 * ```
 */
export function renderWorkingMemory(
  memory: WorkingMemory,
  countTokens: TokenCounter,
  maxTokens = MAX_TOKENS,
): string {
  const wrapper = countTokens(`${OPEN}\n`) + countTokens(`\n${CLOSE}`);
  const groups = [
    summaryGroup(memory.summary ?? ""),
    entityGroup(memory.entities),
    nameGroup(memory.discoveredTools),
    usedGroup(memory.usedTools),
  ];
  const text = fitLines(groups, maxTokens - wrapper, countTokens);
  return text === "" ? "" : `${OPEN}\n${text}\n${CLOSE}`;
}

/** Writes outside text as a JSON string in which no tag can begin. */
function quoted(text: string): string {
  return JSON.stringify(toVisibleText(text)).replaceAll("<", "\\u003c").replaceAll(">", "\\u003e");
}

/** Type, name and, in brackets, id. */
function entityForms({ type, id, name }: Entity): string[] {
  return [`${plain(type)} ${word(name)} (${word(id)})`, `${plain(type)} (${word(id)})`, ""];
}

/** A single word cannot be read as an instruction, so it needs no quotes. */
function word(text: string): string {
  return /^[\w.-]{1,80}$/.test(text) ? text : quoted(text);
}

function entityGroup(entities: readonly Entity[]): LineGroup {
  // Newest first: the last entries are dropped first.
  const prices = [MEMORY_PRICE.entityName, MEMORY_PRICE.entity];
  return listOf(
    "Entities",
    entities.map((entity) => ({ forms: entityForms(entity), prices })),
  );
}

function summaryGroup(summary: string): LineGroup {
  const words = toVisibleText(summary).trim();
  if (words === "") return { pieces: [], toText: () => "" };
  const shorter = (chars: number) => (words.length <= chars ? words : toSummary(words, chars));
  const forms = [...SUMMARY_FORMS.map((chars) => `Summary: ${quoted(shorter(chars))}`), ""];
  const prices = [MEMORY_PRICE.shorterSummary, MEMORY_PRICE.shorterSummary, MEMORY_PRICE.summary];
  return { pieces: [{ forms, prices }], toText: (lines) => lines.join("") };
}

function nameGroup(names: readonly string[]): LineGroup {
  const pieces = names
    .toReversed()
    .map((name, age) => wholePiece(quoted(name), age < RECENT ? MEMORY_PRICE.tool : MEMORY_PRICE.oldTool));
  return listOf("discoveredTools", pieces, (items) => `[${items.toReversed().join(", ")}]`);
}

function usedGroup(used: readonly ToolUse[]): LineGroup {
  const pieces = used
    .toReversed()
    .map((use, age) =>
      wholePiece(
        `${quoted(use.name)} (${usesText(use)})`,
        age < RECENT ? MEMORY_PRICE.use : MEMORY_PRICE.oldUse,
      ),
    );
  return listOf("Recently used", pieces);
}

/** An upstream's author chooses types, so keep only word characters. */
function plain(type: string): string {
  return type.replace(/[^\p{L}\p{N}_ -]/gu, "_");
}
