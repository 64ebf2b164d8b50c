import { type Key, Text, useInput } from "ink";
import { createElement as h, type ReactNode, useEffect, useMemo, useState } from "react";
import type { PermissionAnswer } from "./chat-agent.ts";
import type { Permission } from "./chat-state.ts";
import { type DraftState, EMPTY_DRAFT, edit, type InputDraft, keyToEdit, useLatest } from "./line-editor.ts";
import { alwaysLabel, describeRule, questionLines, questionTitle } from "./question-lines.ts";
import { colour, column } from "./terminal-text.ts";
import { wrapHard, wrapWords } from "./wrap-text.ts";

/** Rows for the margin, the title, the hint, the draft with its margin, the status, and one that stays free. */
const OTHER_ROWS = 7;

export interface PermissionDialogProps {
  readonly permission: Permission;
  readonly columns: number;
  /** The rows of the screen that the question, the draft and the status have. */
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
  const choices = choicesOf(permission, columns, draft.shown.text.trim() !== "");
  const answerRows = choices.flatMap(({ label }) => wrapHard(`  ${label} (1)`, columns)).length;
  const room = Math.max(3, rows - OTHER_ROWS - answerRows);
  const lines = useMemo(() => questionLines(permission, columns - 4, room), [permission, columns, room]);
  // The position takes a line of its own.
  const height = lines.length <= room ? room : Math.max(3, room - 1);
  const last = Math.max(0, lines.length - height);
  // The first line on the screen, and that of the last page seen.
  const scroll = useLatest({ top: 0, seen: 0 });
  const { top } = scroll.shown;
  const isWhole = ({ seen }: { seen: number }) => seen + height >= lines.length;
  /** Why the last key did nothing. */
  const [refused, refuse] = useState<string>();
  /** The rules, while the person writes them. */
  const rules = useLatest<InputDraft | undefined>(undefined);

  function answer(choice: DialogChoice | undefined): void {
    if (!choice) refuse(UNCHOSEN);
    else if (choice.allows && !isWhole(scroll.latest())) refuse(UNSEEN);
    else if (choice.answer === "instead") {
      const { text } = draft.latest();
      draft.change({ type: "sent" });
      onAnswer({ deny: text.trim() });
    } else onAnswer(choice.answer);
  }

  function write(input: string, key: Key): void {
    const now = rules.latest() ?? EMPTY_DRAFT;
    if (key.escape) {
      rules.set(undefined);
      attention.write(false);
    } else if (key.return) {
      const always = now.text.split("\n").filter((rule) => rule.trim() !== "");
      if (always.length > 0) onAnswer({ always });
    } else {
      const change = keyToEdit(input, key);
      if (change) rules.set(edit(now, change));
    }
  }

  useInput((input, key) => {
    const isEmpty = draft.latest().text === "";
    refuse(undefined);
    if (!attention.takes(input, key, isEmpty)) return;
    if (rules.latest()) return write(input, key);
    if (DIGIT.test(input)) return answer(choices[Number(input) - 1]);
    const now = scroll.latest();
    if (key.pageDown) {
      const next = Math.min(last, now.top + height);
      scroll.set({ top: next, seen: Math.max(now.seen, next) });
    } else if (key.pageUp) scroll.set({ ...now, top: Math.max(0, now.top - height) });
    else if (key.upArrow) attention.choose((chosen = choices.length) => Math.max(0, chosen - 1));
    else if (key.downArrow) attention.choose((chosen = -1) => Math.min(choices.length - 1, chosen + 1));
    else if (key.escape) onAnswer("deny");
    else if (!key.tab) answer(choices[attention.latest() ?? choices.length]);
    else if (!isEditable(permission)) refuse("No rule can be written here.");
    else if (!isWhole(scroll.latest())) refuse(UNSEEN);
    else {
      const text = (permission.wider ?? permission.always).join("\n");
      rules.set({ ...EMPTY_DRAFT, text, cursor: text.length });
      attention.write(true);
    }
  });

  const hint = !attention.takesKeys
    ? TYPING
    : rules.shown
      ? WRITING
      : hintOf(permission, isWhole(scroll.shown));
  return column(
    { marginTop: 1 },
    h(
      Text,
      { bold: true, ...colour("yellow") },
      QUESTIONS[permission.scope]?.title ?? questionTitle(permission, columns),
    ),
    lines
      .slice(top, top + height)
      .map(({ text, tint }, index) => h(Text, { key: `line ${index}`, wrap: "hard", ...tint }, `│ ${text}`)),
    lines.length > height
      ? h(
          Text,
          { dimColor: true },
          `Lines ${top + 1}–${Math.min(lines.length, top + height)} of ${lines.length}; Page ${top < last ? "Down" : "Up"} shows more.`,
        )
      : null,
    rules.shown
      ? h(RuleLines, { rules: rules.shown, columns })
      : choices.map(({ label, allows }, index) =>
          h(
            Text,
            { key: label, bold: index === attention.chosen, dimColor: allows && !isWhole(scroll.shown) },
            `${index === attention.chosen ? "›" : " "} ${label} (${index + 1})`,
          ),
        ),
    refused === undefined ? h(Text, { dimColor: true }, hint) : h(Text, { ...colour("yellow") }, refused),
  );
}

const ANSWERING = "↑↓ and Enter answer, or a digit";
const UNCHOSEN = "Nothing is chosen yet: choose with ↑↓, or press a digit.";
const UNSEEN = "Page Down to the end first: a yes needs all of it to have been on the screen.";
const DIGIT = /^[1-9]$/;
const TYPING = "Keys go to your draft until you pause.";
const WRITING = "Enter allows it and keeps this rule; Esc goes back.";

function hintOf(permission: Permission, isWhole: boolean): string {
  if (!isWhole) return `${ANSWERING}; a yes needs Page Down to the end first.`;
  return `${ANSWERING}; ${isEditable(permission) ? "Tab edits the rule; " : ""}Esc denies.`;
}

/** A rule about a tool names the tool, and nothing else. */
function isEditable({ always, scope }: Permission): boolean {
  return always.length > 0 && scope !== "tool";
}

/** The rules that the person writes, and what they cover. */
function RuleLines({ rules, columns }: { rules: InputDraft; columns: number }): ReactNode {
  const { text, cursor } = rules;
  const under = [...text.slice(cursor)][0] ?? "";
  const covers = text.split("\n").filter(Boolean).map(describeRule).join("; ");
  return column(
    {},
    h(
      Text,
      { wrap: "hard" },
      h(Text, { bold: true }, "Rule: "),
      text.slice(0, cursor),
      h(Text, { inverse: true }, under === "" || under === "\n" ? " " : under),
      under === "\n" ? "\n" : "",
      text.slice(cursor + under.length),
    ),
    wrapWords(`allows ${covers}`, columns - 2).map((line, index) =>
      h(Text, { key: index, dimColor: true }, `  ${line}`),
    ),
  );
}

interface DialogChoice {
  readonly label: string;
  /** `instead` denies with the draft as the reason. */
  readonly answer: "once" | "session" | "always" | "deny" | "instead";
  readonly allows: boolean;
}

/** Questions of the chat itself. */
const QUESTIONS: Readonly<
  Record<string, { readonly title: string; readonly choices: readonly DialogChoice[] }>
> = {
  folder: {
    title: "Trust this folder as it is now?",
    choices: [
      { label: "no, go on without these files", answer: "deny", allows: false },
      { label: "yes, trust it", answer: "once", allows: true },
    ],
  },
  plan: {
    title: "Do it?",
    choices: [
      { label: "yes, and ask before each change", answer: "once", allows: true },
      { label: "yes, and accept edits", answer: "session", allows: true },
      { label: "no, go on planning", answer: "deny", allows: false },
    ],
  },
};

function choicesOf(permission: Permission, columns: number, hasDraft: boolean): readonly DialogChoice[] {
  const { scope, always } = permission;
  const question = QUESTIONS[scope];
  if (question) return question.choices;
  const again = AGAIN[scope] ?? "this";
  return [
    { label: "yes, once", answer: "once", allows: true },
    { label: `yes, and ${again} again in this session`, answer: "session", allows: true },
    ...(always.length === 0
      ? []
      : [
          {
            label: alwaysLabel(permission, columns) ?? "yes, always: save what is above",
            answer: "always",
            allows: true,
          } as const,
        ]),
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
  web: "this host",
  tool: "any call of this tool",
};

/** A pause this long without a key means that the person has stopped typing and looks at the question. */
const PAUSE_MS = 600;

/** The attention of the person: the pause that gave it, and the number of the choice. */
interface AttentionState {
  readonly pause: string;
  readonly chosen: number | undefined;
  /** The person writes a rule, which takes every key. */
  readonly writes?: boolean;
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
    /** Whether a key is for the question. Digits, and Enter before a choice, are only if the draft is empty. */
    takes: (input: string, key: Partial<Key>, isDraftEmpty: boolean): boolean => {
      const now = current(state.latest());
      if (now?.writes) return !(key.ctrl && input === "c");
      if (!now || key.ctrl || key.meta || key.shift) return false;
      if (key.return) return isDraftEmpty || now.chosen !== undefined;
      if (DIGIT.test(input)) return isDraftEmpty;
      return [key.upArrow, key.downArrow, key.pageUp, key.pageDown, key.escape, key.tab].includes(true);
    },
    /** Whether the question takes keys, also if the screen is not drawn yet. */
    isReady: (): boolean => current(state.latest()) !== undefined,
    choose: (next: (chosen: number | undefined) => number): void => {
      const now = current(state.latest());
      if (now) state.set({ ...now, chosen: next(now.chosen) });
    },
    /** Gives every key to the question, while the person writes in it. */
    write: (writes: boolean): void => {
      const now = current(state.latest());
      if (now) state.set({ ...now, writes });
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
