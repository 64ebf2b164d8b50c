import { render } from "ink";
import { createElement as h, type ReactNode } from "react";
import type { Choice, TextQuestion } from "./chat-agent.ts";
import { PickerView } from "./picker-view.ts";
import { TextQuestionView } from "./text-question.ts";

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
  async function show<T>(draw: (answer: (value: T | undefined) => void) => ReactNode): Promise<T | undefined> {
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
