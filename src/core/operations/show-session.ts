import { z } from "zod";
import { problem } from "../../base/problems/problem.ts";
import { toVisibleText } from "../../base/safety/visible-text.ts";
import { fitPieces, type Piece } from "../../base/tokens/fit-pieces.ts";
import type { TokenCounter } from "../../base/tokens/tokens.ts";
import { addressOf } from "../../base/util/address-of.ts";
import { toSummary } from "../../base/util/to-summary.ts";
import type { View } from "../access/view.ts";
import { hitForms, hitLine, ruleId, ruleText } from "../answers/hit.ts";
import type { Entity, Entry, Rule } from "../nouns/entry.ts";
import { mayStillRead } from "../sessions/read-conditions.ts";
import type { ToolUse, WorkingMemory } from "../sessions/working-memory.ts";
import { CURRENT_SESSION, handleOf } from "../storage/session-store.ts";
import type { OperationContext } from "./operation.ts";

const paramsSchema = z.strictObject({ maxTokens: z.int().min(50).max(4_000).default(400) });

/** The reader's loss by kind of line; the cheapest goes first. Lines shrink before they are dropped. */
const PRICE = { shorter: 1, shorterRule: 2, signatureOnly: 3, bare: 4, result: 5, rule: 6, line: 7 };
const SHORT_RULE_CHARS = 80;

/** Everything that a session has seen, for an agent whose context has been condensed. */
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
  const groups = [
    summaryGroup(memory.summary ?? ""),
    toolGroup(memory, view),
    unveiledGroup(memory, view),
    ruleGroup(memory, view),
    entityGroup(memory.entities.filter(({ needs }) => !needs || mayStillRead(view, needs))),
    await resultGroup(memory, context),
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

/** Newest first, without entries that the caller may no longer see. */
function toolGroup({ discoveredTools, usedTools }: WorkingMemory, view: View): LineGroup {
  const uses = new Map(usedTools.map((use) => [use.name, use]));
  const pieces = entriesOf(discoveredTools, view).map((entry) => {
    const use = uses.get(addressOf(entry));
    const failed = use?.lastResult === "error" ? ", last failed" : "";
    return entryPiece(entry, use ? ` (used ${use.count}x${failed})` : "");
  });
  return { pieces, toText: (lines, left) => groupText("Found:", lines, left) };
}

function unveiledGroup({ unveiled, discoveredTools }: WorkingMemory, view: View): LineGroup {
  const known = new Set(entriesOf(discoveredTools, view));
  const pieces = entriesOf(unveiled, view)
    .filter((entry) => !known.has(entry))
    .map((entry) => entryPiece(entry, ""));
  return { pieces, toText: (lines, left) => groupText("Unveiled:", lines, left) };
}

function ruleGroup({ rules }: WorkingMemory, view: View): LineGroup {
  const delivered = new Set(rules);
  const pieces = [...view.domains.values()]
    .flatMap((domain) => domain.rules)
    .filter((rule) => delivered.has(ruleId(rule)))
    .map(rulePiece);
  return { pieces, toText: (lines, left) => groupText("", lines, left && `rules: ${left}`) };
}

async function resultGroup(
  { results }: WorkingMemory,
  { results: store, view }: OperationContext,
): Promise<LineGroup> {
  const seen = results.filter(({ needs }) => mayStillRead(view, needs));
  const kept = await Promise.all(seen.map(({ handle }) => store.has(handle, view.principal.id)));
  const pieces = seen
    .filter((_, at) => kept[at])
    .toReversed()
    .map(
      ({ handle, name }): Piece => ({
        forms: [`- ${handle} of ${quoted(name)}`, ""],
        prices: [PRICE.result],
      }),
    );
  return { pieces, toText: (lines, left) => groupText("Stored results:", lines, left) };
}

function entriesOf(names: readonly string[], view: View): Entry[] {
  return names.toReversed().flatMap((name) => view.find(name) ?? []);
}

function entryPiece(entry: Entry, note: string): Piece {
  const forms = hitForms(entry).map((hit) => hitLine(hit) + note);
  return { forms: [...forms, ""], prices: [PRICE.shorter, PRICE.signatureOnly, PRICE.bare, PRICE.line] };
}

function rulePiece(rule: Rule): Piece {
  const short = { ...rule, text: toSummary(rule.text, SHORT_RULE_CHARS) };
  return { forms: [ruleText(rule), ruleText(short), ""], prices: [PRICE.shorterRule, PRICE.rule] };
}

function groupText(heading: string, lines: readonly string[], left: number | string): string {
  const omitted = left ? [`[left out: ${left}; read again with a larger maxTokens]`] : [];
  return [...(heading ? [heading] : []), ...lines, ...omitted].join("\n");
}

/** Lines that belong together, and how the ones that are shown become text. */
export interface LineGroup {
  readonly pieces: readonly Piece[];
  /** `left` is how many of the group's lines were left out. */
  toText(lines: readonly string[], left: number): string;
}

/** The fullest text of the groups, a line each at least, within the budget. Empty where nothing fits. */
export function fitLines(groups: readonly LineGroup[], maxTokens: number, countTokens: TokenCounter): string {
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
/** The reader's loss by kind of line; the cheapest goes first, and among those the oldest. */
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
/** How many of the newest are worth more than the rest. */
const RECENT = 10;

/**
 * Renders the memory of a session as a block for a system prompt; empty for a new session. Text from outside stands
 * in it as JSON strings that cannot close the block or begin a line. See {@link Session} and
 * {@link loadTokenCounter}.
 *
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

/** A single word cannot be mistaken for an instruction, so it needs no quotes. */
function word(text: string): string {
  return /^[\w.-]{1,80}$/.test(text) ? text : quoted(text);
}

function entityGroup(entities: readonly Entity[]): LineGroup {
  // The newest come first, and what comes last is dropped first.
  const pieces = entities.map(
    (entity): Piece => ({
      forms: entityForms(entity),
      prices: [MEMORY_PRICE.entityName, MEMORY_PRICE.entity],
    }),
  );
  return { pieces, toText: (lines, left) => listText("Entities: ", lines, left) };
}

function summaryGroup(summary: string): LineGroup {
  const words = toVisibleText(summary).trim();
  if (words === "") return { pieces: [], toText: () => "" };
  const forms = [...SUMMARY_FORMS.map((chars) => `Summary: ${quoted(toSummaryText(words, chars))}`), ""];
  const prices = [MEMORY_PRICE.shorterSummary, MEMORY_PRICE.shorterSummary, MEMORY_PRICE.summary];
  return { pieces: [{ forms, prices }], toText: (lines) => lines.join("") };
}

function toSummaryText(words: string, chars: number): string {
  return words.length <= chars ? words : toSummary(words, chars);
}

function nameGroup(names: readonly string[]): LineGroup {
  const newestFirst = names.toReversed();
  const pieces = newestFirst.map(
    (name, age): Piece => ({
      forms: [quoted(name), ""],
      prices: [age < RECENT ? MEMORY_PRICE.tool : MEMORY_PRICE.oldTool],
    }),
  );
  return {
    pieces,
    toText: (lines, left) =>
      lines.length === 0
        ? leftText("discoveredTools", left)
        : `discoveredTools: [${lines.toReversed().join(", ")}]${more(left)}`,
  };
}

function usedGroup(used: readonly ToolUse[]): LineGroup {
  const pieces = used.toReversed().map(({ name, count, lastResult }, age): Piece => {
    const failed = lastResult === "error" ? ", last failed" : "";
    return {
      forms: [`${quoted(name)} (${count}x${failed})`, ""],
      prices: [age < RECENT ? MEMORY_PRICE.use : MEMORY_PRICE.oldUse],
    };
  });
  return { pieces, toText: (lines, left) => listText("Recently used: ", lines, left) };
}

function listText(heading: string, lines: readonly string[], left: number): string {
  return lines.length === 0
    ? leftText(heading.split(":", 1)[0]!, left)
    : `${heading}${lines.join(", ")}${more(left)}`;
}

function leftText(what: string, left: number): string {
  return `${what}: ${left} left out`;
}

function more(left: number): string {
  return left === 0 ? "" : ` and ${left} more`;
}

/** Types may come from an upstream's author, so only word characters stay. */
function plain(type: string): string {
  return type.replace(/[^\p{L}\p{N}_ -]/gu, "_");
}
