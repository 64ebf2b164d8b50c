import { Box, Text } from "ink";
import { createElement as h, type ReactNode } from "react";
import type { ToolBlock, ToolStatus } from "./chat-state.ts";
import { colour } from "./colour.ts";
import { DiffView } from "./diff-view.ts";
import { foldLines, lastLines, toDuration } from "./fold-tool.ts";

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
export function ToolView({ tool }: { tool: ToolBlock }): ReactNode {
  const { status } = tool;
  const tint = status === "ok" ? "green" : status === "failed" ? "red" : "yellow";
  return h(
    Box,
    { flexDirection: "column" },
    h(
      Box,
      null,
      h(Box, { flexShrink: 0 }, h(Text, colour(tint), `${MARKS[status]} `)),
      h(
        Text,
        { wrap: "truncate" },
        h(Text, { bold: true }, tool.tool),
        h(Text, { dimColor: true }, tool.args === "" ? "" : ` ${tool.args}`),
      ),
      tool.ms === undefined
        ? null
        : h(Box, { flexShrink: 0 }, h(Text, { dimColor: true }, ` ${toDuration(tool.ms)}`)),
    ),
    status === "running" && tool.live ? h(LinesView, { lines: lastLines(tool.live) }) : null,
    status === "cancelled" ? h(Text, { dimColor: true }, "  └ cancelled") : null,
    tool.text === undefined || (tool.diff !== undefined && status === "ok")
      ? null
      : h(LinesView, { lines: foldLines(tool.text, tool.tool, status === "failed") }),
    tool.diff === undefined ? null : h(DiffView, { diff: tool.diff }),
  );
}
