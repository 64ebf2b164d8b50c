import { render, Text, useInput, usePaste } from "ink";
import { createElement as h, type ReactNode, useEffect, useState } from "react";
import { toVisibleLine } from "../../base/safety/visible-text.ts";
import type { Choice, TextQuestion } from "./chat-agent.ts";
import type { Picker } from "./chat-state.ts";
import { EMPTY_DRAFT, edit, type InputDraft, keyToEdit, typedText, useLatest } from "./line-editor.ts";
import { colour, column } from "./terminal-text.ts";
import { wrapHard } from "./wrap-text.ts";

/** Questions to a person, one after the other. An answer is undefined if the person leaves. */
export interface Dialogue {
  /** Returns the id of the choice. */
  pick(title: string, choices: readonly Choice[]): Promise<string | undefined>;
  ask(question: TextQuestion): Promise<string | undefined>;
  say(line: string): void;
}

export interface DialogueTerminal {
  readonly stdin: NodeJS.ReadableStream;
  readonly stdout: NodeJS.WritableStream & { readonly columns?: number; readonly rows?: number };
}

/** Asks in a terminal, with the lists and lines of the chat. */
export function createDialogue({ stdin, stdout }: DialogueTerminal): Dialogue {
  async function show<T>(
    draw: (answer: (value: T | undefined) => void) => ReactNode,
  ): Promise<T | undefined> {
    const { promise, resolve } = Promise.withResolvers<T | undefined>();
    const screen = render(draw(resolve), {
      stdin: stdin as NodeJS.ReadStream,
      stdout: stdout as NodeJS.WriteStream,
      exitOnCtrlC: false,
      interactive: true,
      patchConsole: false,
    });
    const answer = await promise;
    screen.clear();
    screen.unmount();
    return answer;
  }

  const { columns = 80, rows = 24 } = stdout;
  return {
    pick: (title, choices) =>
      show<string>((answer) =>
        h(PickerView, {
          picker: { title, choices },
          rows,
          onPick: ({ id }) => answer(id),
          onClose: () => answer(undefined),
        }),
      ),
    ask: (question) => show<string>((onAnswer) => h(TextQuestionView, { question, columns, onAnswer })),
    say: (line) => void stdout.write(`${line}\n`),
  };
}

/** Rows for the title, the hint and the draft. */
const OTHER_ROWS = 8;

export interface PickerViewProps {
  readonly picker: Pick<Picker, "title" | "choices">;
  readonly rows: number;
  onPick(choice: Choice): void;
  onClose(): void;
}

/** A list to pick from: the arrows move, letters filter, Enter picks, Esc closes. */
export function PickerView({ picker, rows, onPick, onClose }: PickerViewProps): ReactNode {
  const position = useLatest({ filter: "", at: 0 });
  const { shown } = position;
  const fitting = matching(picker.choices, shown.filter);
  const height = Math.max(3, rows - OTHER_ROWS);
  const top = Math.max(0, Math.min(shown.at - Math.floor(height / 2), fitting.length - height));

  function move(at: number, filter = position.latest().filter): void {
    const most = matching(picker.choices, filter).length - 1;
    position.set({ filter, at: Math.max(0, Math.min(at, most)) });
  }

  useInput((input, key) => {
    const { filter, at } = position.latest();
    if (key.escape || (key.ctrl && input === "c")) onClose();
    else if (key.return) {
      const choice = matching(picker.choices, filter)[at];
      if (choice) onPick(choice);
    } else if (key.upArrow) move(at - 1);
    else if (key.downArrow) move(at + 1);
    else if (key.pageUp) move(at - height);
    else if (key.pageDown) move(at + height);
    else if (key.backspace || key.delete) move(0, filter.slice(0, -1));
    else if (!key.ctrl && !key.meta && !key.tab) move(0, filter + typedText(input));
  });

  return column(
    { marginTop: 1 },
    h(
      Text,
      { bold: true, ...colour("yellow") },
      `${picker.title}${shown.filter === "" ? "" : ` ${shown.filter}`}`,
    ),
    fitting.length === 0 ? h(Text, { dimColor: true }, "  nothing fits") : null,
    fitting
      .slice(top, top + height)
      .map((choice, index) =>
        h(
          Text,
          { key: choice.id, wrap: "truncate", bold: top + index === shown.at },
          `${top + index === shown.at ? "›" : " "} ${lineOf(choice)}`,
        ),
      ),
    h(Text, { dimColor: true }, "↑↓ and Enter pick; letters filter; Esc closes."),
  );
}

function matching(choices: readonly Choice[], filter: string): readonly Choice[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  return choices.filter((choice) => {
    const text = lineOf(choice).toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

function lineOf({ name, text }: Choice): string {
  return toVisibleLine(text === "" ? name : `${name}  ${text}`);
}

const MOST_SUGGESTED = 5;
const MOST_ABOUT_LINES = 4;

export interface TextQuestionProps {
  readonly question: TextQuestion;
  readonly columns: number;
  /** Undefined if the person leaves it open. */
  onAnswer(text: string | undefined): void;
}

/** Asks for a line of text. A secret is drawn as dots. */
export function TextQuestionView({ question, columns, onAnswer }: TextQuestionProps): ReactNode {
  const { title, about = "", isSecret = false, complete } = question;
  const draft = useLatest(EMPTY_DRAFT);
  const { text, cursor } = draft.shown;
  const [suggested, suggest] = useState<readonly string[]>([]);
  useEffect(() => {
    const controller = new AbortController();
    void complete?.(text, controller.signal).then(
      (values) => controller.signal.aborted || suggest(values.slice(0, MOST_SUGGESTED)),
      () => {},
    );
    return () => controller.abort();
  }, [text, complete]);

  useInput((input, key) => {
    const now = draft.latest();
    // Fast typing can arrive together with its Enter.
    const entered = input.length > 1 && input.endsWith("\r") ? insert(now, input) : undefined;
    if (entered) onAnswer(entered.text.trim());
    else if (key.escape || (key.ctrl && input === "c")) onAnswer(undefined);
    else if (key.return) now.text.trim() === "" ? undefined : onAnswer(now.text.trim());
    else if (key.tab) draft.set(suggested[0] === undefined ? now : typed(suggested[0]));
    else {
      const change = keyToEdit(input, key);
      if (change) draft.set(edit(now, change));
    }
  });

  usePaste((pasted) => draft.set(insert(draft.latest(), pasted)));

  const shown = isSecret ? "•".repeat([...text].length) : text;
  const at = isSecret ? [...text.slice(0, cursor)].length : cursor;
  const under = [...shown.slice(at)][0] ?? " ";
  return column(
    { marginTop: 1 },
    h(Text, { bold: true, ...colour("yellow") }, toVisibleLine(title)),
    wrapHard(toVisibleLine(about), columns - 2)
      .slice(0, MOST_ABOUT_LINES)
      .map((line, index) => h(Text, { key: index }, `  ${line}`)),
    h(
      Text,
      { wrap: "hard" },
      `› ${shown.slice(0, at)}`,
      h(Text, { inverse: true }, under),
      shown.slice(at + under.length),
    ),
    suggested.map((value, index) =>
      h(Text, { key: `value ${index}`, dimColor: true, wrap: "truncate" }, `  ${toVisibleLine(value)}`),
    ),
    h(
      Text,
      { dimColor: true },
      `Enter answers; ${suggested.length > 0 ? "Tab takes the first; " : ""}Esc leaves.`,
    ),
  );
}

const typed = (text: string) => ({ ...EMPTY_DRAFT, text, cursor: text.length });

function insert(draft: InputDraft, text: string): InputDraft {
  return edit(draft, {
    type: "insert",
    text: typedText(text)
      .replaceAll(/\s*\n\s*/g, " ")
      .trim(),
  });
}

/** Questions for a line of text, one at a time. `show` draws the question, or takes it away. */
export function createTextQuestions(show: (question: TextQuestion | undefined) => void) {
  let answer: ((text: string | undefined) => void) | undefined;
  return {
    /** Undefined if the person leaves it open. */
    ask: async (question: TextQuestion, signal?: AbortSignal): Promise<string | undefined> => {
      const { promise, resolve } = Promise.withResolvers<string | undefined>();
      answer = resolve;
      signal?.addEventListener("abort", () => resolve(undefined), { once: true });
      if (signal?.aborted) resolve(undefined);
      show(question);
      return promise.finally(() => show(undefined));
    },
    answer: (text: string | undefined): void => answer?.(text),
  };
}
