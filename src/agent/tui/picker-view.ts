import { Text, useInput } from "ink";
import { createElement as h, type ReactNode } from "react";
import { toVisibleLine } from "../../base/safety/visible-text.ts";
import type { Choice } from "./chat-agent.ts";
import type { Picker } from "./chat-state.ts";
import { typedText, useLatest } from "./line-editor.ts";
import { colour, column } from "./terminal-text.ts";

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
