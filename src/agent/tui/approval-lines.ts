import { isDeepStrictEqual } from "node:util";
import { diffWordsWithSpace } from "diff";
import { toExactText, toVisibleLine } from "../../base/safety/visible-text.ts";
import { countOf } from "../../base/util/count-of.ts";
import { fieldsOf } from "../../base/util/plain-object.ts";
import type { DefinitionChange } from "../../core/access/diff-definitions.ts";
import type { PinState } from "../../core/access/pins.ts";
import type { DefinitionApproval } from "../../gateway/approvals.ts";
import { wrapHard, wrapWords } from "./wrap-text.ts";

/** A line of an approval. Every line of outside text stands behind a mark, so that it imitates no other line. */
export interface ApprovalLine {
  readonly text: string;
  readonly tone?: "title" | "quiet" | "warning" | "removed" | "added";
}

/** Lines of a description that are shown while a definition is folded. */
const FOLDED_LINES = 3;
const INDENT = "    ";
const OUTSIDE = `${INDENT}│ `;
const NAME_WIDTH = 28;

/** Lines that are shown whole and exactly, broken only where the terminal ends. */
export function exactLines(facts: readonly string[], columns: number): ApprovalLine[] {
  return facts.flatMap((fact) =>
    wrapHard(fact, columns - 2).map((text, index) => ({ text: `${index === 0 ? "" : "  "}${text}` })),
  );
}

/** A definition as a person judges it: folded to its first lines, or whole. */
export function definitionLines(
  definition: DefinitionApproval,
  { mark, columns, isOpen }: { readonly mark: string; readonly columns: number; readonly isOpen: boolean },
): ApprovalLine[] {
  const { name, effect, tokens, state, warnings, lane, changes } = definition;
  const size = `${(lane === undefined ? effect : `${effect}, by you`).padEnd(9)} ${String(tokens).padStart(6)} tokens`;
  const head = `${mark} ${toVisibleLine(name).padEnd(NAME_WIDTH)} ${size}`;
  return [
    ...wrapHard(head, columns).map((text) => ({ text, tone: "title" as const })),
    ...(STATES[state] === "" ? [] : [{ text: `${INDENT}${STATES[state]}`, tone: "quiet" as const }]),
    ...warnings.flatMap((warning) => ownLines(`! ${warning}`, columns, "warning")),
    ...changes.flatMap((change) => changeLines(change, columns)),
    ...(changes.length > 0 && !isOpen ? [] : descriptionLines(definition, columns, isOpen)),
    ...(isOpen ? detailLines(definition, columns) : []),
  ];
}

const STATES: Readonly<Record<PinState, string>> = {
  pending: "",
  flagged: "",
  changed: "changed since you approved it:",
  reworded: "in use, with another wording than you approved:",
  rejected: "rejected by you",
  approved: "approved",
  trusted: "trusted",
};

function descriptionLines(
  { definition }: DefinitionApproval,
  columns: number,
  isOpen: boolean,
): ApprovalLine[] {
  const { description } = definition;
  const text = typeof description === "string" ? toExactText(description).trimEnd() : "";
  const lines = text === "" ? [] : wrapWords(text, columns - OUTSIDE.length);
  // A fold that hides one line would not be shorter.
  const shown = isOpen || lines.length <= FOLDED_LINES + 1 ? lines.length : FOLDED_LINES;
  const parameters = Object.keys(fieldsOf(fieldsOf(definition.inputSchema).properties)).length;
  const folded = [
    ...(shown < lines.length ? [`${lines.length - shown} more lines`] : []),
    ...(isOpen || parameters === 0 ? [] : [countOf(parameters, "parameter")]),
  ];
  return [
    ...lines.slice(0, shown).map((line) => ({ text: `${OUTSIDE}${line}`.trimEnd() })),
    ...(folded.length === 0 ? [] : [{ text: `${INDENT}▸ ${folded.join(", ")}`, tone: "quiet" as const }]),
  ];
}

/** Everything of the definition beside its name and description. */
function detailLines({ definition }: DefinitionApproval, columns: number): ApprovalLine[] {
  const { name: _, description: __, ...details } = definition;
  const isBare = isDeepStrictEqual(details, { inputSchema: { type: "object" } });
  if (isBare || Object.keys(details).length === 0) return [];
  const json = toExactText(JSON.stringify(details, null, 2));
  return wrapHard(json, columns - OUTSIDE.length).map((line) => ({ text: `${OUTSIDE}${line}`.trimEnd() }));
}

function ownLines(sentence: string, columns: number, tone: "warning"): ApprovalLine[] {
  return wrapWords(sentence, columns - INDENT.length).map((text) => ({ text: `${INDENT}${text}`, tone }));
}

/** A change of a definition: the words that changed with a few around them, or both values whole. */
function changeLines(change: DefinitionChange, columns: number): ApprovalLine[] {
  const { path, before, after } = change;
  const isText = typeof before === "string" && typeof after === "string";
  const parts = isText ? changedWords(toExactText(before), toExactText(after)) : undefined;
  const whole = [
    ...("before" in change ? [{ sign: "-", text: valueText(before) } as const] : []),
    ...("after" in change ? [{ sign: "+", text: valueText(after) } as const] : []),
  ];
  return [
    { text: `${INDENT}${toVisibleLine(path.slice(1)) || "the definition"}:`, tone: "quiet" },
    ...(parts ?? whole).flatMap(({ sign, text }) =>
      wrapWords(text, columns - OUTSIDE.length).map((line) => ({
        text: `${INDENT}${sign} ${line}`,
        tone: sign === "-" ? ("removed" as const) : ("added" as const),
      })),
    ),
  ];
}

function valueText(value: unknown): string {
  return toExactText(typeof value === "string" ? value : JSON.stringify(value));
}

interface ChangedText {
  readonly sign: "-" | "+";
  readonly text: string;
}

/** Words around a change, and words between two changes that are shown as one. */
const CONTEXT_WORDS = 6;
/** Texts that differ more are shown whole. */
const MOST_EDITS = 2_000;

/** The places where two texts differ, each as it was and as it is. Nothing that changed is left out. */
export function changedWords(before: string, after: string): ChangedText[] | undefined {
  const parts = diffWordsWithSpace(before, after, { maxEditLength: MOST_EDITS });
  if (!parts) return undefined;
  const places: { from: string; to: string }[] = [];
  let isOpen = false;
  for (const [index, { value, added, removed }] of parts.entries()) {
    const place = places.at(-1);
    if (added || removed) {
      if (!isOpen || !place) {
        const common = index === 0 ? "" : lastWords(parts[index - 1]!.value);
        places.push({ from: common, to: common });
      }
      const current = places.at(-1)!;
      if (removed) current.from += value;
      else current.to += value;
      isOpen = true;
    } else if (place && isOpen) {
      const isLast = index === parts.length - 1;
      isOpen = !isLast && wordsOf(value).length <= 2 * CONTEXT_WORDS;
      const common = isOpen ? value : firstWords(value);
      place.from += common;
      place.to += common;
    }
  }
  return places.flatMap(({ from, to }) => [
    { sign: "-" as const, text: from },
    { sign: "+" as const, text: to },
  ]);
}

function wordsOf(text: string): string[] {
  return text.match(/\s*\S+/g) ?? [];
}

function firstWords(text: string): string {
  const words = wordsOf(text);
  return words.length <= CONTEXT_WORDS ? text : `${words.slice(0, CONTEXT_WORDS).join("")} …`;
}

function lastWords(text: string): string {
  const words = wordsOf(text);
  if (words.length <= CONTEXT_WORDS) return text;
  // Spaces behind the last word belong to it.
  const end = text.slice(words.join("").length);
  return `…${words.slice(-CONTEXT_WORDS).join("")}${end}`;
}
