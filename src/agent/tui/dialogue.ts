import { render, Text, useInput, usePaste } from "ink";
import { createElement as h, type ReactNode, useEffect, useState } from "react";
import { toVisibleLine } from "../../base/safety/visible-text.ts";
import type { Choice, TextQuestion } from "./chat-agent.ts";
import { EMPTY_DRAFT, edit, type InputDraft, keyToEdit, typedText, useLatest } from "./line-editor.ts";
import { PickerView } from "./pick-list.ts";
import { colour, column } from "./terminal-text.ts";
import { wrapHard, wrapWords } from "./wrap-text.ts";

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
    say: (line) => void stdout.write(`${wrapWords(line, columns).join("\n")}\n`),
  };
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
  const [found, suggest] = useState<{ readonly of: string; readonly values: readonly string[] }>();
  /** Until the values for a text arrive, those of the text before that fit it. */
  const suggestedFor = (now: string) =>
    (found?.values ?? []).filter((value) => found?.of === now || value.startsWith(now));
  useEffect(() => {
    const controller = new AbortController();
    void complete?.(text, controller.signal).then(
      (values) => controller.signal.aborted || suggest({ of: text, values: values.slice(0, MOST_SUGGESTED) }),
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
    else if (key.tab) draft.set(typed(suggestedFor(now.text)[0] ?? now.text));
    else {
      const change = keyToEdit(input, key);
      if (change) draft.set(edit(now, change));
    }
  });

  usePaste((pasted) => draft.set(insert(draft.latest(), pasted)));

  const suggested = suggestedFor(text);
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
