import { type Key, Text, useInput } from "ink";
import { createElement as h, type ReactNode, useEffect, useMemo, useState } from "react";
import { PERMISSION_SCOPES, type PermissionScope } from "../permissions/permission.ts";
import { showExactly } from "../permissions/to-request.ts";
import { tintOf } from "./block-view.ts";
import type { PermissionAnswer } from "./chat-agent.ts";
import type { Permission } from "./chat-state.ts";
import { type DraftState, useLatest } from "./line-editor.ts";
import { colour, column } from "./terminal-text.ts";
import { wrapHard } from "./wrap-text.ts";

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
 * Asks for a permission and shows exactly what will happen, in pages. Nothing is chosen at first, no letter answers, a
 * digit does only in an empty draft, and only text seen to its end can be allowed.
 */
export function PermissionDialog(props: PermissionDialogProps): ReactNode {
  const { permission, columns, rows, attention, draft, onAnswer } = props;
  const lines = useMemo(() => toLines(permission, columns - 4), [permission, columns]);
  const height = Math.max(3, rows - OTHER_ROWS);
  const last = Math.max(0, lines.length - height);
  const choices = choicesOf(permission, draft.shown.text.trim() !== "");
  // The first line on the screen, and that of the last page seen.
  const scroll = useLatest({ top: 0, seen: 0 });
  const { top } = scroll.shown;
  const isWhole = ({ seen }: { seen: number }) => seen + height >= lines.length;

  function answer(choice: DialogChoice | undefined): void {
    if (!choice || (choice.allows && !isWhole(scroll.latest()))) return;
    if (choice.answer === "instead") {
      const { text } = draft.latest();
      draft.change({ type: "sent" });
      onAnswer({ deny: text.trim() });
    } else onAnswer(choice.answer);
  }

  useInput((input, key) => {
    if (!attention.takes(key, draft.latest().text === "" ? input : "")) return;
    if (DIGIT.test(input)) return answer(choices[Number(input) - 1]);
    const now = scroll.latest();
    if (key.pageDown) {
      const next = Math.min(last, now.top + height);
      scroll.set({ top: next, seen: Math.max(now.seen, next) });
    } else if (key.pageUp) scroll.set({ ...now, top: Math.max(0, now.top - height) });
    else if (key.upArrow) attention.choose((chosen = choices.length) => Math.max(0, chosen - 1));
    else if (key.downArrow) attention.choose((chosen = -1) => Math.min(choices.length - 1, chosen + 1));
    else if (key.escape) onAnswer("deny");
    else answer(choices[attention.latest() ?? choices.length]);
  });

  return column(
    { marginTop: 1 },
    h(
      Text,
      { bold: true, ...colour("yellow") },
      QUESTIONS[permission.scope]?.title ?? `Allow ${permission.scope}?`,
    ),
    lines
      .slice(top, top + height)
      .map(({ text, tint }, index) => h(Text, { key: `line ${index}`, wrap: "hard", ...tint }, `│ ${text}`)),
    lines.length > height
      ? h(
          Text,
          { dimColor: true },
          `Lines ${top + 1}–${Math.min(lines.length, top + height)} of ${lines.length}; Page Down shows more.`,
        )
      : null,
    choices.map(({ label, allows }, index) =>
      h(
        Text,
        { key: label, bold: index === attention.chosen, dimColor: allows && !isWhole(scroll.shown) },
        `${index === attention.chosen ? "›" : " "} ${label} (${index + 1})`,
      ),
    ),
    h(Text, { dimColor: true }, !attention.takesKeys ? TYPING : isWhole(scroll.shown) ? ANSWERING : UNSEEN),
  );
}

const ANSWERING = "↑↓ and Enter answer, or a digit; Esc denies.";
const UNSEEN = "↑↓ and Enter answer, or a digit; a yes needs Page Down to the end first.";
const DIGIT = /^[1-9]$/;
const TYPING = "Keys go to your draft until you pause.";

interface DialogChoice {
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
};

function choicesOf({ scope, always }: Permission, hasDraft: boolean): DialogChoice[] {
  const question = QUESTIONS[scope];
  if (question) {
    return [
      { label: question.no, answer: "deny", allows: false },
      { label: question.yes, answer: "once", allows: true },
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

interface DialogLine {
  readonly text: string;
  readonly tint: object;
}

/** Everything that an answer is about, in the order of weight. */
function toLines({ action, reason, diff, always, keptIn }: Permission, columns: number): DialogLine[] {
  const rules = always.map((rule) => `${rule}: ${describeRule(rule)}`);
  const file = keptIn === undefined ? "" : ` in ${keptIn}`;
  return [
    ...plain(action, columns),
    ...(diff === undefined ? [] : diffLines(diff, columns)),
    ...(reason === "" ? [] : plain(`\nWhy it asks: ${reason}`, columns)),
    ...(rules.length === 0 ? [] : plain([`\n“Always” saves${file}:`, ...rules].join("\n"), columns)),
  ];
}

function plain(text: string, columns: number): DialogLine[] {
  return wrapHard(showExactly(text), columns).map((line) => ({ text: line, tint: {} }));
}

function diffLines(diff: string, columns: number): DialogLine[] {
  return diff
    .trimEnd()
    .split("\n")
    .flatMap((line) => {
      const shown = line.split("\t").map(showExactly).join("→   ");
      return wrapHard(shown, columns).map((text) => ({ text, tint: tintOf(line) }));
    });
}

const VERBS: Readonly<Record<PermissionScope, string>> = {
  "fs-read": "reading",
  "fs-write": "writing",
  "fs-delete": "deleting",
  "shell-run": "running",
};

/** The requests that a rule covers, in words. A rule that cannot be read stands for itself. */
export function describeRule(rule: string): string {
  const open = rule.indexOf("(");
  const scope = PERMISSION_SCOPES.find((each) => each === rule.slice(0, open));
  if (scope === undefined || !rule.endsWith(")")) return rule;
  const pattern = rule.slice(open + 1, -1);
  return `${VERBS[scope]} ${scope === "shell-run" ? ofCommand(pattern) : ofPath(pattern)}`;
}

function ofCommand(pattern: string): string {
  const [, words, star] = /^(.*) (\*\*?)$/s.exec(pattern) ?? [];
  if (star === undefined) return `${pattern}, with exactly these words`;
  return `${words}, with any further arguments${star === "**" ? "; it may run other programs and write files" : ""}`;
}

function ofPath(pattern: string): string {
  if (pattern === "**") return "every file of the folder";
  const folder = /^((?:[^*?\\]|\\.)*)\/\*\*$/s.exec(pattern)?.[1];
  if (folder !== undefined) return `every file below ${literal(folder)}`;
  if (/^(?:[^*?\\]|\\.)*$/s.test(pattern)) return `the file ${literal(pattern)} alone`;
  return `every file whose path fits ${pattern}`;
}

function literal(pattern: string): string {
  return pattern.replace(/\\(.)/gs, "$1");
}

/** A pause this long without a key means that the person has stopped typing and looks at the question. */
const PAUSE_MS = 600;

/** The attention of the person: the pause that gave it, and the number of the choice. */
interface AttentionState {
  readonly pause: string;
  readonly chosen: number | undefined;
}

type Attention = ReturnType<typeof useAttention>;

/**
 * Gives attention to a question once it has been on the screen for a pause without keys. Until then, every key belongs
 * to the draft.
 */
export function useAttention(question: number | undefined) {
  const [keys, count] = useState(0);
  const state = useLatest<AttentionState | undefined>(undefined);
  const { set } = state;
  const pause = question === undefined ? undefined : `${question} after ${keys}`;

  useEffect(() => {
    if (pause === undefined) return;
    const timer = setTimeout(() => set({ pause, chosen: undefined }), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [pause, set]);

  const current = (value: AttentionState | undefined) =>
    pause !== undefined && value?.pause === pause ? value : undefined;
  const drawn = current(state.shown);
  return {
    /** Whether the question takes keys, for drawing. */
    takesKeys: drawn !== undefined,
    /** The number of the choice, for drawing. */
    chosen: drawn?.chosen,
    /** Whether a key is for the question. Of text only a digit in an empty draft is, and Enter only after a choice. */
    takes: (key: Partial<Key>, input = ""): boolean => {
      const now = current(state.latest());
      if (!now || key.ctrl || key.meta || key.shift) return false;
      if (key.return) return now.chosen !== undefined;
      if (DIGIT.test(input)) return true;
      return [key.upArrow, key.downArrow, key.pageUp, key.pageDown, key.escape].includes(true);
    },
    /** Whether the question takes keys, also if the screen is not drawn yet. */
    isReady: (): boolean => current(state.latest()) !== undefined,
    choose: (next: (chosen: number | undefined) => number): void => {
      const now = current(state.latest());
      if (now) state.set({ ...now, chosen: next(now.chosen) });
    },
    /** The choice, also if the screen is not drawn yet. */
    latest: () => current(state.latest())?.chosen,
    /** The person types: the choice is dropped, and the question waits for another pause. */
    typed: (): void => {
      state.set(undefined);
      if (question !== undefined) count((before) => before + 1);
    },
  };
}
