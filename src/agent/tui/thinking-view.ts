import { Text } from "ink";
import { createElement as h, type ReactNode } from "react";

const LAST_LINES = 4;

/** The model's thinking, dimmed: its last lines while it grows, one line afterwards. */
export function ThinkingView({ text, open }: { text: string; open: boolean }): ReactNode {
  return h(Text, { dimColor: true, italic: true }, open ? lastLines(text) : thinkingLine(text));
}

export function thinkingLine(text: string): string {
  const lines = text.trim().split("\n");
  return lines.length === 1 ? `∴ ${lines[0]}` : `∴ ${lines[0]} (${lines.length} lines, Ctrl-T shows them)`;
}

function lastLines(text: string): string {
  return `∴ ${text.trim().split("\n").slice(-LAST_LINES).join("\n  ")}`;
}
