import { Box, Text } from "ink";
import { createElement as h, type ReactNode } from "react";
import { contextLines, foldLines, lastLines, thinkingLine, toDuration } from "./block-text.ts";
import type { Fact } from "./chat-agent.ts";
import type { ChatBlock, ToolBlock, ToolStatus } from "./chat-state.ts";
import { MarkdownView } from "./markdown-view.ts";
import { colour, column, marked } from "./terminal-text.ts";

/** In narrower windows a fact's text goes below its name. */
const NARROW = 60;
const FACT_NAME = 22;

/** Shows one block of a chat. */
export function BlockView({ block, columns }: { block: ChatBlock; columns: number }): ReactNode {
  switch (block.kind) {
    case "prompt":
      return marked(h(Text, { bold: true, ...colour("cyan") }, "› "), h(Text, { bold: true }, block.text), {
        marginTop: 1,
      });
    case "answer":
      return h(Box, { marginTop: 1 }, h(MarkdownView, { text: block.text, columns }));
    case "tool":
      return h(ToolView, { tool: block });
    case "thinking":
      return h(
        Text,
        { dimColor: true, italic: true },
        block.open ? `∴ ${lastLines(block.text).join("\n  ")}` : thinkingLine(block.text),
      );
    case "notice":
      return h(Text, { dimColor: true }, block.text);
    case "problem":
      return column(
        {},
        h(Text, { bold: true, ...colour("red") }, `✗ ${block.code}: ${block.message}`),
        h(Text, null, block.next),
      );
    case "facts":
      return column(
        { marginTop: 1 },
        block.facts.map((fact, index) => h(FactView, { fact, narrow: columns < NARROW, key: index })),
      );
    case "context":
      return column(
        { marginTop: 1 },
        contextLines(block.report, columns).map((line, index) => h(Text, { key: index }, line)),
      );
  }
}

function FactView({ fact, narrow }: { fact: Fact; narrow: boolean }): ReactNode {
  return h(
    Box,
    { flexDirection: narrow ? "column" : "row" },
    h(
      Box,
      narrow ? {} : { width: FACT_NAME, flexShrink: 0, paddingRight: 1 },
      h(Text, { bold: true }, fact.name),
    ),
    h(Box, { paddingLeft: narrow ? 2 : 0 }, h(Text, { dimColor: true }, fact.text)),
  );
}

const MARKS: Readonly<Record<ToolStatus, string>> = {
  running: "●",
  asking: "?",
  ok: "✓",
  failed: "✗",
  cancelled: "–",
};

function LinesView({ lines }: { lines: readonly string[] }): ReactNode {
  return lines.map((line, index) =>
    h(Text, { key: index, wrap: "truncate", dimColor: true }, `  ${index === 0 ? "└" : " "} ${line}`),
  );
}

/** Shows a folded tool call: one line for the call, one for its result. */
function ToolView({ tool }: { tool: ToolBlock }): ReactNode {
  const { status } = tool;
  const tint = status === "ok" ? "green" : status === "failed" ? "red" : "yellow";
  const call = h(
    Text,
    { wrap: "truncate" },
    h(Text, { bold: true }, tool.tool),
    h(Text, { dimColor: true }, tool.args === "" ? "" : ` ${tool.args}`),
  );
  const time = tool.ms === undefined ? "" : ` ${toDuration(tool.ms)}`;
  return column(
    {},
    h(
      Box,
      null,
      marked(h(Text, colour(tint), `${MARKS[status]} `), call),
      h(Box, { flexShrink: 0 }, h(Text, { dimColor: true }, time)),
    ),
    status === "running" && tool.live ? h(LinesView, { lines: lastLines(tool.live) }) : null,
    status === "cancelled" ? h(Text, { dimColor: true }, "  └ cancelled") : null,
    tool.text === undefined || (tool.diff !== undefined && status === "ok")
      ? null
      : h(LinesView, { lines: foldLines(tool.text, tool.tool, status === "failed") }),
    tool.diff === undefined ? null : h(DiffView, { diff: tool.diff }),
  );
}

const MOST_LINES = 40;

/** Shows a unified diff. The signs carry the meaning; colour only helps. */
function DiffView({ diff }: { diff: string }): ReactNode {
  const lines = diff.trimEnd().split("\n");
  const more = lines.length - MOST_LINES;
  return column(
    { paddingLeft: 2 },
    lines
      .slice(0, MOST_LINES)
      .map((line, index) =>
        h(Text, { key: index, wrap: "hard", ...tintOf(line) }, line.replaceAll("\t", "  ") || " "),
      ),
    more > 0 ? h(Text, { dimColor: true }, `… ${more} more lines`) : null,
  );
}

/** Colours for a line of a diff. */
export function tintOf(line: string): object {
  if (line.startsWith("+++") || line.startsWith("---")) return { bold: true };
  if (line.startsWith("@@")) return colour("cyan");
  if (line.startsWith("+")) return colour("green");
  return line.startsWith("-") ? colour("red") : { dimColor: true };
}
