import { Box, Text, useInput } from "ink";
import { createElement as h, type ReactNode, useRef, useState } from "react";
import { toVisibleLine } from "../util/visible-text.ts";
import type { Choice } from "./chat-agent.ts";
import type { Picker } from "./chat-state.ts";
import { colour } from "./colour.ts";
import { typedText } from "./key-to-edit.ts";

/** Rows for the title, the hint and the draft. */
const OTHER_ROWS = 8;

export interface PickerViewProps {
  readonly picker: Picker;
  readonly rows: number;
  onPick(choice: Choice): void;
  onClose(): void;
}

/** A list to pick from: the arrows move, letters filter, Enter picks, Esc closes. */
export function PickerView({ picker, rows, onPick, onClose }: PickerViewProps): ReactNode {
  const [shown, show] = useState<Place>({ filter: "", at: 0 });
  // Keys can arrive before the screen is drawn again.
  const place = useRef(shown);
  const fitting = matching(picker.choices, shown.filter);
  const height = Math.max(3, rows - OTHER_ROWS);
  const top = Math.max(0, Math.min(shown.at - Math.floor(height / 2), fitting.length - height));

  function move(change: Partial<Place>): void {
    const next = { ...place.current, ...change };
    const most = matching(picker.choices, next.filter).length - 1;
    place.current = { ...next, at: Math.max(0, Math.min(next.at, most)) };
    show(place.current);
  }

  useInput((input, key) => {
    const { filter, at } = place.current;
    if (key.escape || (key.ctrl && input === "c")) onClose();
    else if (key.return) {
      const choice = matching(picker.choices, filter)[at];
      if (choice) onPick(choice);
    } else if (key.upArrow) move({ at: at - 1 });
    else if (key.downArrow) move({ at: at + 1 });
    else if (key.pageUp) move({ at: at - height });
    else if (key.pageDown) move({ at: at + height });
    else if (key.backspace || key.delete) move({ filter: filter.slice(0, -1), at: 0 });
    else if (!key.ctrl && !key.meta && !key.tab) move({ filter: filter + typedText(input), at: 0 });
  });

  return h(
    Box,
    { flexDirection: "column", marginTop: 1 },
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

interface Place {
  readonly filter: string;
  readonly at: number;
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
