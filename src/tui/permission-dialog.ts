import { Box, Text, useInput } from "ink";
import { createElement as h, type ReactNode, useState } from "react";
import { showExactly } from "../agent/permissions/show-exactly.ts";
import type { PermissionAnswer } from "./chat-agent.ts";
import type { Permission } from "./chat-state.ts";
import { colour } from "./colour.ts";
import { wrapHard } from "./wrap-hard.ts";

const CHOICES: readonly {
  readonly key: string;
  readonly answer: PermissionAnswer;
  readonly label: string;
}[] = [
  { key: "y", answer: "once", label: "yes, once" },
  { key: "s", answer: "session", label: "yes, for this session" },
  { key: "a", answer: "always", label: "yes, always" },
  { key: "n", answer: "deny", label: "no" },
];
const DENY = CHOICES.length - 1;

export interface PermissionDialogProps {
  readonly permission: Permission;
  readonly columns: number;
  readonly rows: number;
  onAnswer(answer: PermissionAnswer): void;
}

/** Asks for a permission and shows exactly what will happen, in pages. Only text seen to its end can be allowed. */
export function PermissionDialog({ permission, columns, rows, onAnswer }: PermissionDialogProps): ReactNode {
  const [chosen, choose] = useState(DENY);
  const [top, scroll] = useState(0);
  const [seen, see] = useState(0);
  const { action, reason } = permission;
  const text = reason === "" ? action : `${action}\n\nWhy it asks: ${reason}`;
  const lines = wrapHard(showExactly(text), columns - 4);
  const height = Math.max(3, rows - 12);
  const last = Math.max(0, lines.length - height);
  const whole = Math.max(seen, top + height) >= lines.length;

  function answer(index: number): void {
    if (index === DENY || whole) onAnswer(CHOICES[index]!.answer);
  }

  useInput((input, key) => {
    if (key.ctrl || key.meta) return;
    if (key.pageDown || input === " ") {
      const next = Math.min(last, top + height);
      scroll(next);
      see(Math.max(seen, next + height));
    } else if (key.pageUp) scroll(Math.max(0, top - height));
    else if (key.upArrow) choose(Math.max(0, chosen - 1));
    else if (key.downArrow) choose(Math.min(DENY, chosen + 1));
    else if (key.escape) answer(DENY);
    else if (key.return) answer(chosen);
    else {
      const index = CHOICES.findIndex((choice) => choice.key === input.toLowerCase());
      if (index !== -1) answer(index);
    }
  });

  return h(
    Box,
    { flexDirection: "column", marginTop: 1 },
    h(Text, { bold: true, ...colour("yellow") }, `Allow ${permission.scope}?`),
    lines
      .slice(top, top + height)
      .map((line, index) => h(Text, { key: `line ${index}`, wrap: "hard" }, `│ ${line}`)),
    lines.length > height
      ? h(
          Text,
          { dimColor: true },
          `Lines ${top + 1}–${Math.min(lines.length, top + height)} of ${lines.length}; space shows more.`,
        )
      : null,
    CHOICES.map(({ key, label }, index) =>
      h(
        Text,
        { key, bold: index === chosen, dimColor: index !== DENY && !whole },
        `${index === chosen ? "›" : " "} ${key}  ${label}`,
      ),
    ),
  );
}
