import { fitLines, type LineGroup } from "../render/fit-lines.ts";
import type { Piece } from "../render/fit-pieces.ts";
import type { Entity } from "../schema/extraction.ts";
import type { ToolUse, WorkingMemory } from "../session/working-memory.ts";
import { toSummary } from "../util/to-summary.ts";
import type { TokenCounter } from "../util/tokens.ts";
import { toVisibleText } from "../util/visible-text.ts";

const MAX_TOKENS = 300;
const OPEN = "<working-memory>";
const CLOSE = "</working-memory>";
const SUMMARY_FORMS = [600, 200, 80];
/** The reader's loss by kind of line; the cheapest goes first, and among those the oldest. */
const PRICE = {
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
    toolGroup(memory.discoveredTools),
    usedGroup(memory.usedTools),
  ];
  const text = fitLines(groups, maxTokens - wrapper, countTokens);
  return text === "" ? "" : `${OPEN}\n${text}\n${CLOSE}`;
}

/** Writes outside text as a JSON string in which no tag can begin. */
export function quoted(text: string): string {
  return JSON.stringify(toVisibleText(text)).replaceAll("<", "\\u003c").replaceAll(">", "\\u003e");
}

/** Type, name and, in brackets, id. */
export function entityForms({ type, id, name }: Entity): string[] {
  return [`${plain(type)} ${word(name)} (${word(id)})`, `${plain(type)} (${word(id)})`, ""];
}

/** A single word cannot be mistaken for an instruction, so it needs no quotes. */
function word(text: string): string {
  return /^[\w.-]{1,80}$/.test(text) ? text : quoted(text);
}

export function entityGroup(entities: readonly Entity[]): LineGroup {
  // The newest come first, and what comes last is dropped first.
  const pieces = entities.map(
    (entity): Piece => ({ forms: entityForms(entity), prices: [PRICE.entityName, PRICE.entity] }),
  );
  return { pieces, toText: (lines, left) => listText("Entities: ", lines, left) };
}

export function summaryGroup(summary: string): LineGroup {
  const words = toVisibleText(summary).trim();
  if (words === "") return { pieces: [], toText: () => "" };
  const forms = [...SUMMARY_FORMS.map((chars) => `Summary: ${quoted(toSummaryText(words, chars))}`), ""];
  const prices = [PRICE.shorterSummary, PRICE.shorterSummary, PRICE.summary];
  return { pieces: [{ forms, prices }], toText: (lines) => lines.join("") };
}

function toSummaryText(words: string, chars: number): string {
  return words.length <= chars ? words : toSummary(words, chars);
}

function toolGroup(names: readonly string[]): LineGroup {
  const newestFirst = names.toReversed();
  const pieces = newestFirst.map(
    (name, age): Piece => ({
      forms: [quoted(name), ""],
      prices: [age < RECENT ? PRICE.tool : PRICE.oldTool],
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
      prices: [age < RECENT ? PRICE.use : PRICE.oldUse],
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
