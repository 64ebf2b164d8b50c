import { Box, Text, useInput } from "ink";
import { createElement as h, type ReactNode, useMemo, useRef, useState } from "react";
import { describeRule } from "../agent/permissions/describe-rule.ts";
import { showExactly } from "../agent/permissions/show-exactly.ts";
import type { PermissionAnswer } from "./chat-agent.ts";
import type { Permission } from "./chat-state.ts";
import { colour } from "./colour.ts";
import { tintOf } from "./diff-view.ts";
import type { Attention } from "./use-attention.ts";
import type { DraftState } from "./use-draft.ts";
import { wrapHard } from "./wrap-hard.ts";

/** Rows for the title, the choices, the hint, the draft and the status. */
const OTHER_ROWS = 18;

export interface PermissionDialogProps {
  readonly permission: Permission;
  readonly columns: number;
  readonly rows: number;
  readonly attention: Attention;
  readonly draft: DraftState;
  onAnswer(answer: PermissionAnswer): void;
}

/**
 * Asks for a permission and shows exactly what will happen, in pages. Nothing is chosen at first, no letter answers,
 * and only text seen to its end can be allowed.
 */
export function PermissionDialog(props: PermissionDialogProps): ReactNode {
  const { permission, columns, rows, attention, draft, onAnswer } = props;
  const lines = useMemo(() => toLines(permission, columns - 4), [permission, columns]);
  const height = Math.max(3, rows - OTHER_ROWS);
  const last = Math.max(0, lines.length - height);
  const choices = choicesOf(permission, draft.shown.text.trim() !== "");
  const [shown, show] = useState<Place>(START);
  // Keys can arrive before the screen is drawn again.
  const place = useRef(shown);
  const whole = shown.seen + height >= lines.length;

  function move(change: Partial<Place>): void {
    place.current = { ...place.current, ...change };
    show(place.current);
  }

  function answer(choice: Choice | undefined): void {
    if (!choice || (choice.allows && place.current.seen + height < lines.length)) return;
    if (choice.answer === "instead") {
      const { text } = draft.latest();
      draft.change({ type: "sent" });
      onAnswer({ deny: text.trim() });
    } else onAnswer(choice.answer);
  }

  useInput((_input, key) => {
    if (!attention.takes(key)) return;
    const { top, seen } = place.current;
    if (key.pageDown) {
      const next = Math.min(last, top + height);
      move({ top: next, seen: Math.max(seen, next) });
    } else if (key.pageUp) move({ top: Math.max(0, top - height) });
    else if (key.upArrow) attention.choose((chosen = choices.length) => Math.max(0, chosen - 1));
    else if (key.downArrow) attention.choose((chosen = -1) => Math.min(choices.length - 1, chosen + 1));
    else if (key.escape) onAnswer("deny");
    else answer(choices[attention.latest() ?? choices.length]);
  });

  return h(
    Box,
    { flexDirection: "column", marginTop: 1 },
    h(Text, { bold: true, ...colour("yellow") }, titleOf(permission)),
    lines
      .slice(shown.top, shown.top + height)
      .map(({ text, tint }, index) => h(Text, { key: `line ${index}`, wrap: "hard", ...tint }, `│ ${text}`)),
    lines.length > height
      ? h(
          Text,
          { dimColor: true },
          `Lines ${shown.top + 1}–${Math.min(lines.length, shown.top + height)} of ${lines.length}; Page Down shows more.`,
        )
      : null,
    choices.map(({ label, allows }, index) =>
      h(
        Text,
        { key: label, bold: index === attention.chosen, dimColor: allows && !whole },
        `${index === attention.chosen ? "›" : " "} ${label}`,
      ),
    ),
    h(Text, { dimColor: true }, attention.given ? ANSWERING : TYPING),
  );
}

const ANSWERING = "↑↓ and Enter answer; Esc denies.";
const TYPING = "Keys go to your draft until you pause.";

interface Place {
  /** The first line on the screen, and that of the last page seen. */
  readonly top: number;
  readonly seen: number;
}

const START: Place = { top: 0, seen: 0 };

interface Choice {
  readonly label: string;
  /** `instead` denies with the draft as the reason. */
  readonly answer: "once" | "session" | "always" | "deny" | "instead";
  readonly allows: boolean;
}

/** Questions of the chat itself, which are answered with yes or no. */
const QUESTIONS: Readonly<
  Record<string, { readonly title: string; readonly yes: string; readonly no: string }>
> = {
  folder: {
    title: "Trust this folder as it is now?",
    yes: "yes, trust it",
    no: "no, go on without these files",
  },
  definitions: {
    title: "Approve these definitions, which the model will read?",
    yes: "yes, approve them",
    no: "no, keep them from the model",
  },
  server: { title: "Let this server start?", yes: "yes, let it run", no: "no" },
};

function titleOf({ scope }: Permission): string {
  return QUESTIONS[scope]?.title ?? `Allow ${scope}?`;
}

function choicesOf({ scope, always }: Permission, hasDraft: boolean): Choice[] {
  const own = QUESTIONS[scope];
  if (own) {
    return [
      { label: own.no, answer: "deny", allows: false },
      { label: own.yes, answer: "once", allows: true },
    ];
  }
  const again = AGAIN[scope] ?? "this";
  return [
    { label: "yes, once", answer: "once", allows: true },
    { label: `yes, and ${again} again in this session`, answer: "session", allows: true },
    ...(always.length === 0
      ? []
      : [{ label: "yes, always: save the rule above", answer: "always", allows: true } as const]),
    { label: "no", answer: "deny", allows: false },
    ...(hasDraft ? [{ label: "no, do what the draft says", answer: "instead", allows: false } as const] : []),
  ];
}

/** Describes the requests that the answer for the session allows. */
const AGAIN: Readonly<Record<string, string>> = {
  "fs-read": "this path",
  "fs-write": "any change of this file",
  "fs-delete": "this path",
  "shell-run": "this command",
  tool: "any call of this tool",
};

interface Line {
  readonly text: string;
  readonly tint: object;
}

/** Everything that an answer is about, in the order of weight. */
function toLines({ action, reason, diff, always, keptIn }: Permission, columns: number): Line[] {
  const rules = always.map((rule) => `${rule}: ${describeRule(rule)}`);
  const kept = keptIn === undefined ? "" : ` in ${keptIn}`;
  const notes = [
    ...(reason === "" ? [] : [`Why it asks: ${reason}`]),
    ...(rules.length === 0 ? [] : [[`“Always” saves${kept}:`, ...rules].join("\n")]),
  ];
  return [
    ...plain(action, columns),
    ...(diff === undefined ? [] : diffLines(diff, columns)),
    ...notes.flatMap((note) => plain(`\n${note}`, columns)),
  ];
}

function plain(text: string, columns: number): Line[] {
  return wrapHard(showExactly(text), columns).map((line) => ({ text: line, tint: {} }));
}

function diffLines(diff: string, columns: number): Line[] {
  return diff
    .trimEnd()
    .split("\n")
    .flatMap((line) => {
      const shown = line.split("\t").map(showExactly).join("→   ");
      return wrapHard(shown, columns).map((text) => ({ text, tint: tintOf(line) }));
    });
}
