import { Text, useInput } from "ink";
import { createElement as h, type ReactNode } from "react";
import { toVisibleLine } from "../../base/safety/visible-text.ts";
import type { Choice } from "./chat-agent.ts";
import type { Picker } from "./chat-state.ts";
import { typedText, useLatest } from "./line-editor.ts";
import { colour, column } from "./terminal-text.ts";

/** Rows for the title, the hint and the draft. */
const OTHER_ROWS = 8;

/** The part of a list that is on the screen: as many lines as fit around the chosen one. */
export function linesAround<T>(lines: readonly T[], at: number, height: number) {
  const top = Math.max(0, Math.min(at - Math.floor(height / 2), lines.length - height));
  return lines.slice(top, top + height).map((line, index) => ({ line, at: top + index }));
}

interface PickerViewProps {
  readonly picker: Pick<Picker, "title" | "choices" | "numbered">;
  readonly rows: number;
  onPick(choice: Choice): void;
  onClose(): void;
}

/** A list to pick from: the arrows move, letters filter, Enter picks, Esc closes. In a numbered list a digit picks. */
export function PickerView({ picker, rows, onPick, onClose }: PickerViewProps): ReactNode {
  const { choices, title, numbered = false } = picker;
  const position = useLatest({ filter: "", at: 0 });
  const { shown } = position;
  const fitting = matching(choices, shown.filter);
  const height = Math.max(3, rows - OTHER_ROWS);

  function move(at: number, filter = position.latest().filter): void {
    const most = matching(choices, filter).length - 1;
    position.set({ filter, at: Math.max(0, Math.min(at, most)) });
  }

  useInput((input, key) => {
    const { filter, at } = position.latest();
    const digit = numbered && /^[1-9]$/.test(input) ? choices[Number(input) - 1] : undefined;
    const choice = key.return ? matching(choices, filter)[at] : digit;
    if (choice) onPick(choice);
    else if (key.escape || (key.ctrl && input === "c")) onClose();
    else if (key.upArrow) move(at - 1);
    else if (key.downArrow) move(at + 1);
    else if (key.pageUp) move(at - height);
    else if (key.pageDown) move(at + height);
    else if (key.backspace || key.delete) move(0, filter.slice(0, -1));
    else if (key.ctrl && input === "u") move(0, "");
    else if (!key.ctrl && !key.meta && !key.tab && !key.return) move(0, filter + typedText(input));
  });

  return column(
    { marginTop: 1 },
    h(Text, { bold: true, ...colour("yellow") }, `${title}${shown.filter === "" ? "" : ` ${shown.filter}`}`),
    fitting.length === 0 ? h(Text, { dimColor: true }, "  nothing fits") : null,
    linesAround(fitting, shown.at, height).map(({ line, at }) =>
      h(
        Text,
        { key: line.id, wrap: "truncate", bold: at === shown.at },
        `${at === shown.at ? "›" : " "} ${lineOf(line)}${numbered ? ` (${choices.indexOf(line) + 1})` : ""}`,
      ),
    ),
    h(
      Text,
      { dimColor: true },
      `↑↓ and Enter pick${numbered ? ", or a digit" : ""}; letters filter; Esc closes.`,
    ),
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
