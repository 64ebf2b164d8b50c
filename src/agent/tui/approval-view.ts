import { type Key, render, Text, useInput, usePaste, useWindowSize } from "ink";
import { createElement as h, type ReactNode, useMemo, useRef } from "react";
import type { ApprovalAnswer, ApprovalCard, ApprovalDecision } from "../../gateway/approvals.ts";
import type { ApprovalLine } from "./approval-lines.ts";
import {
  type ApprovalKey,
  type ApprovalState,
  choicesOf,
  createLayout,
  isWholeSeen,
  look,
  pressKey,
  startState,
} from "./approval-state.ts";
import { useLatest } from "./line-editor.ts";
import { useAttention } from "./permission-dialog.ts";
import { colour, column } from "./terminal-text.ts";

export interface ApprovalViewProps {
  readonly card: ApprovalCard;
  readonly columns: number;
  /** The rows that the card may take. */
  readonly rows: number;
  readonly attention: ReturnType<typeof useAttention>;
  onAnswer(answer: ApprovalDecision | "later"): void;
}

/** Rows for the position and the hint. */
const OTHER_ROWS = 2;
/** A key that follows another one sooner was held or pasted, and answers nothing. */
const APART_MS = 120;

/**
 * A card with a choice for each definition. Enter answers only where an answer was chosen, a yes counts only after
 * everything was on the screen, and keys count only after a pause without any.
 */
export function ApprovalView({ card, columns, rows, attention, onAnswer }: ApprovalViewProps): ReactNode {
  const layout = useMemo(() => createLayout(card), [card]);
  const more = [card.rewords, card.limits].filter((one) => one !== undefined).length;
  const answers = card.definitions.length === 0 ? 2 : 3 + more;
  const height = Math.max(3, rows - OTHER_ROWS - answers);
  const screen = { height, layout: (state: ApprovalState) => layout(state, columns) };
  const first = useMemo(() => startState(card), [card]);
  const state = useLatest(first);
  const lastKey = useRef(Number.NEGATIVE_INFINITY);
  const looked = (now: ApprovalState) => look(now, screen.layout(now), height);

  usePaste(() => attention.typed());
  useInput((input, key) => {
    const isApart = performance.now() - lastKey.current > APART_MS;
    lastKey.current = performance.now();
    if (!attention.isReady()) return attention.typed();
    // The screen that the person saw counts, before the key changes it.
    const now = looked(state.latest());
    if (key.escape) return onAnswer("later");
    const choice = choicesOf(card, now)[now.cursor - card.definitions.length];
    if (key.return && choice) {
      const mayAnswer = isApart && (!choice.isYes || isWholeSeen(card, now, screen.layout));
      return mayAnswer ? onAnswer(choice.answer) : state.set(now);
    }
    const pressed = keyOf(input, key);
    if (pressed) state.set(looked(pressKey(card, now, pressed, screen)));
  });

  const shown = looked(state.shown);
  const { lines } = screen.layout(shown);
  const { top, cursor } = shown;
  const isSeen = isWholeSeen(card, shown, screen.layout);
  const hidden = lines.length - Math.min(lines.length, top + height);
  return column(
    {},
    lines
      .slice(top, top + height)
      .map(({ text, tone }, index) =>
        h(Text, { key: `line ${index}`, wrap: "truncate", ...TONES[tone ?? "plain"]() }, text),
      ),
    h(
      Text,
      { dimColor: true },
      lines.length > height ? positionOf(top, lines.length - hidden, lines.length, isSeen) : " ",
    ),
    choicesOf(card, shown).map(({ label, isYes }, index) => {
      const isChosen = cursor === card.definitions.length + index;
      const props = { key: label, wrap: "truncate", bold: isChosen, dimColor: isYes && !isSeen } as const;
      return h(Text, props, `${isChosen ? "›" : " "} ${label}`);
    }),
    h(
      Text,
      { dimColor: true, wrap: "truncate" },
      attention.takesKeys ? hintOf(card) : "Keys count in a moment.",
    ),
  );
}

const TONES: Readonly<Record<NonNullable<ApprovalLine["tone"]> | "plain", () => object>> = {
  plain: () => ({}),
  title: () => ({ bold: true }),
  quiet: () => ({ dimColor: true }),
  warning: () => colour("yellow"),
  removed: () => colour("red"),
  added: () => colour("green"),
};

function positionOf(top: number, bottom: number, all: number, isSeen: boolean): string {
  const next = isSeen ? "" : "; Page Down shows the rest, then you can approve";
  return `  lines ${top + 1}–${bottom} of ${all}${next}`;
}

function hintOf({ definitions }: ApprovalCard): string {
  const answer = "Tab, ↑↓, Enter answer · Esc later";
  return definitions.length === 0 ? answer : `Space choose · x reject · r effect · → open · ${answer}`;
}

const LETTERS: Readonly<Record<string, ApprovalKey>> = { x: "reject", r: "effect", R: "milder-effects" };

function keyOf(input: string, key: Key): ApprovalKey | undefined {
  if (key.ctrl || key.meta) return undefined;
  if (key.upArrow) return "up";
  if (key.downArrow) return "down";
  if (key.pageUp) return "page-up";
  if (key.pageDown) return "page-down";
  if (key.tab) return "answers";
  if (key.rightArrow || key.return) return "open";
  if (input === " ") return "choose";
  return LETTERS[input];
}

/** Shows a card in the terminal until the person answers. Keys that were typed before it was shown count for nothing. */
export async function showApproval(card: ApprovalCard): Promise<ApprovalAnswer> {
  const { promise, resolve } = Promise.withResolvers<ApprovalAnswer>();
  const screen = render(h(ApprovalScreen, { card, onAnswer: resolve }), {
    exitOnCtrlC: false,
    interactive: true,
    alternateScreen: true,
  });
  try {
    return await Promise.race([promise, screen.waitUntilExit().then(() => "stop" as const)]);
  } finally {
    screen.unmount();
    await screen.waitUntilExit();
  }
}

interface ApprovalScreenProps {
  readonly card: ApprovalCard;
  onAnswer(answer: ApprovalAnswer): void;
}

function ApprovalScreen({ card, onAnswer }: ApprovalScreenProps): ReactNode {
  const { columns, rows } = useWindowSize();
  const attention = useAttention(1);
  useInput((input, key) => {
    if (key.ctrl && input === "c") onAnswer("stop");
  });
  return h(ApprovalView, { card, columns, rows: rows - 1, attention, onAnswer });
}
