import { LANES, type Lane } from "../../core/nouns/entry.ts";
import {
  type ApprovalCard,
  type ApprovalDecision,
  type DefinitionApproval,
  markLane,
} from "../../gateway/approvals.ts";
import { type ApprovalLine, definitionLines, exactLines } from "./approval-lines.ts";

type Mark = "approve" | "reject" | "wait";

/** A card with everything that a person has looked at and chosen on it. */
export interface ApprovalState {
  /** A definition, or an answer after the last definition. -1: nothing yet. */
  readonly cursor: number;
  /** The first line on the screen. */
  readonly top: number;
  readonly marks: readonly Mark[];
  /** The lane that the person gives each tool. */
  readonly lanes: readonly (Lane | undefined)[];
  readonly open: ReadonlySet<number>;
  /** How many lines of each block have been on the screen; the first block is that of the facts. */
  readonly seen: readonly number[];
}

export type ApprovalKey =
  | ("up" | "down" | "page-up" | "page-down" | "answers" | "open" | "choose" | "reject")
  /** The next effect of the tool, or the milder effect of every tool that looks as if it had one. */
  | ("effect" | "milder-effects");

export interface ApprovalChoice {
  readonly label: string;
  readonly answer: ApprovalDecision | "later";
  /** A yes counts only after everything has been on the screen. */
  readonly isYes: boolean;
}

/** The lines of a card, and the block of lines of each definition. */
export interface ApprovalLayout {
  readonly lines: readonly ApprovalLine[];
  readonly blocks: readonly { readonly from: number; readonly to: number }[];
}

const MARKS: Readonly<Record<Mark, string>> = { approve: "[✓]", reject: "[✗]", wait: "[ ]" };

/** Definitions that try to steer a model are open at first, and not chosen. A new definition alone is open too. */
export function startState({ definitions }: ApprovalCard): ApprovalState {
  const isSafe = ({ warnings }: DefinitionApproval) => warnings.length === 0;
  const isAlone = ({ changes }: DefinitionApproval) => definitions.length === 1 && changes.length === 0;
  return {
    cursor: definitions.length === 0 ? -1 : 0,
    top: 0,
    marks: definitions.map((one) => (isSafe(one) ? "approve" : "wait")),
    lanes: definitions.map(({ lane }) => lane),
    open: new Set(definitions.flatMap((one, index) => (isSafe(one) && !isAlone(one) ? [] : [index]))),
    seen: [],
  };
}

/** Lays a card out. The lines of a definition are made once for each width. */
export function createLayout({ title, facts, definitions }: ApprovalCard) {
  const cache = new Map<string, ApprovalLine[]>();
  const linesOf = (
    index: number,
    columns: number,
    isOpen: boolean,
    mark: string,
    lane: Lane | undefined,
  ): ApprovalLine[] => {
    const key = `${index} ${columns} ${isOpen} ${mark} ${lane}`;
    const definition = markLane(definitions[index]!, lane);
    const lines = cache.get(key) ?? definitionLines(definition, { mark, columns, isOpen });
    cache.set(key, lines);
    return lines;
  };
  return ({ cursor, marks, open, lanes }: ApprovalState, columns: number): ApprovalLayout => {
    const head: ApprovalLine[] = [{ text: title, tone: "title" }, ...exactLines(facts, columns)];
    const lines = [...head];
    const blocks = [{ from: 0, to: head.length }];
    for (const index of definitions.keys()) {
      const mark = MARKS[marks[index]!];
      const [first, ...others] = linesOf(index, columns - 2, open.has(index), mark, lanes[index]);
      const from = lines.length;
      lines.push({ ...first!, text: `${index === cursor ? "›" : " "} ${first!.text}` });
      for (const line of others) lines.push({ ...line, text: `  ${line.text}` });
      blocks.push({ from, to: lines.length });
    }
    return { lines, blocks };
  };
}

/** The answers to a card, by the marks of its definitions. */
export function choicesOf(
  { definitions, yes = "Yes", rewords, limits }: ApprovalCard,
  { marks, lanes }: ApprovalState,
): ApprovalChoice[] {
  const later = { label: "Later", answer: "later", isYes: false } as const;
  const judged = definitions.map((one, index) => markLane(one, lanes[index]));
  const marked = (mark: Mark) => judged.filter((_, index) => marks[index] === mark);
  const [approve, reject, wait] = [marked("approve"), marked("reject"), marked("wait")];
  if (definitions.length === 0) return [{ label: yes, answer: { approve, reject }, isYes: true }, later];
  const all = definitions.length === 1 ? "it" : `all ${definitions.length}`;
  const count = (some: readonly unknown[]) => (some.length === definitions.length ? all : some.length);
  const parts = [
    ...(approve.length > 0 ? [`approve ${count(approve)}${asMarked(approve)}`] : []),
    ...(reject.length > 0 ? [`reject ${count(reject)}`] : []),
    ...(wait.length > 0 ? [`${wait.length} later`] : []),
  ].join(", ");
  const label = `${parts.slice(0, 1).toUpperCase()}${parts.slice(1)}`;
  const isYes = approve.length > 0;
  const isAllRejected = reject.length === definitions.length;
  return [
    ...(isYes && limits
      ? [{ label: `${label}, within this sandbox`, answer: { approve, reject, isLimited: true }, isYes }]
      : []),
    ...(isYes || reject.length > 0 ? [{ label, answer: { approve, reject }, isYes }] : []),
    ...(isYes && rewords !== undefined
      ? [
          {
            label: `${label}, and from now on let ${rewords} change descriptions unasked`,
            answer: { approve, reject, wordingOk: true },
            isYes,
          },
        ]
      : []),
    ...(isAllRejected
      ? []
      : [{ label: `Reject ${all}`, answer: { approve: [], reject: definitions }, isYes: false }]),
    later,
  ];
}

function asMarked(approve: readonly DefinitionApproval[]): string {
  const count = approve.filter(({ lane }) => lane !== undefined).length;
  return count === 0 ? "" : ` (${count} with your word for the effect)`;
}

/** Whether everything that a person has to see has been on the screen, as it was folded at first. */
export function isWholeSeen(card: ApprovalCard, state: ApprovalState, layout: Screen["layout"]): boolean {
  const { blocks } = layout({ ...state, open: startState(card).open });
  return blocks.every(({ from, to }, index) => (state.seen[index] ?? 0) >= to - from);
}

/** Records which lines are on the screen. */
export function look(state: ApprovalState, { blocks }: ApprovalLayout, height: number): ApprovalState {
  const seen = blocks.map(({ from, to }, index) => {
    const before = state.seen[index] ?? 0;
    // Lines count from the first one on: a jump over some does not show those that follow.
    if (state.top > from + before) return before;
    return Math.max(before, Math.min(to, state.top + height) - from);
  });
  return { ...state, seen };
}

interface Screen {
  readonly height: number;
  layout(state: ApprovalState): ApprovalLayout;
}

/** The state after a key. Pure. */
export function pressKey(
  card: ApprovalCard,
  state: ApprovalState,
  key: ApprovalKey,
  { height, layout }: Screen,
): ApprovalState {
  const { blocks, lines } = layout(state);
  const last = Math.max(0, lines.length - height);
  const { length } = card.definitions;
  const { cursor, top } = state;
  const block = blocks[cursor + 1];
  const isDefinition = cursor >= 0 && cursor < length;
  const most = length + choicesOf(card, state).length - 1;
  const at = (next: number): ApprovalState => {
    const target = blocks[next + 1];
    return { ...state, cursor: next, top: target && next < length ? bring(target, top, height, last) : top };
  };
  switch (key) {
    case "down":
      // A definition that is longer than the screen is read to its end first.
      if (isDefinition && block && block.to > top + height)
        return { ...state, top: Math.min(last, block.to - height, top + height - 1) };
      return at(Math.min(most, cursor + 1));
    case "up":
      if (isDefinition && block && block.from < top)
        return { ...state, top: Math.max(block.from, top - height + 1) };
      return at(Math.max(length === 0 ? -1 : 0, cursor - 1));
    case "page-down":
    case "page-up": {
      const next = key === "page-down" ? Math.min(last, top + height) : Math.max(0, top - height);
      const first = blocks.findIndex(({ from }, index) => index > 0 && from >= next) - 1;
      return { ...state, top: next, ...(isDefinition && first >= 0 && { cursor: first }) };
    }
    case "answers":
      return { ...state, cursor: cursor >= length ? (length === 0 ? -1 : 0) : length };
    case "open": {
      if (!isDefinition) return state;
      const open = new Set(state.open);
      if (!open.delete(cursor)) open.add(cursor);
      const next = { ...state, open };
      const after = layout(next);
      const lowest = Math.max(0, after.lines.length - height);
      return { ...next, top: bring(after.blocks[cursor + 1]!, Math.min(top, lowest), height, lowest) };
    }
    case "choose":
    case "reject": {
      if (!isDefinition) return state;
      const wanted = key === "choose" ? "approve" : "reject";
      const marks = state.marks.with(cursor, state.marks[cursor] === wanted ? "wait" : wanted);
      return { ...state, marks };
    }
    case "effect": {
      const definition = card.definitions[cursor];
      if (definition?.ownLane === undefined) return state;
      const now = LANES.indexOf(state.lanes[cursor] ?? definition.ownLane);
      const next = LANES[(now + 1) % LANES.length]!;
      return { ...state, lanes: state.lanes.with(cursor, markLane(definition, next).lane) };
    }
    case "milder-effects":
      return { ...state, lanes: state.lanes.map((lane, index) => card.definitions[index]!.milder ?? lane) };
  }
}

/** The first line on a screen that shows a block: whole, or from its beginning. */
function bring(
  { from, to }: { readonly from: number; readonly to: number },
  top: number,
  height: number,
  last: number,
): number {
  const wanted = from < top || to - from > height ? from : Math.max(top, to - height);
  return Math.min(last, wanted);
}
