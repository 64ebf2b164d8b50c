import { Box, Text } from "ink";
import { createElement as h, type ReactNode } from "react";
import type { Fact } from "./chat-agent.ts";
import type { Block } from "./chat-state.ts";
import { colour } from "./colour.ts";
import { contextLines } from "./context-bar.ts";
import { MarkdownView } from "./markdown-view.ts";
import { ThinkingView } from "./thinking-view.ts";
import { ToolView } from "./tool-view.ts";

/** In narrower windows a fact's text goes below its name. */
const NARROW = 60;
const FACT_NAME = 22;

/** Shows one block of a chat. */
export function BlockView({ block, columns }: { block: Block; columns: number }): ReactNode {
  switch (block.kind) {
    case "prompt":
      return h(
        Box,
        { marginTop: 1 },
        h(Box, { flexShrink: 0 }, h(Text, { bold: true, ...colour("cyan") }, "› ")),
        h(Text, { bold: true }, block.text),
      );
    case "answer":
      return h(Box, { marginTop: 1 }, h(MarkdownView, { text: block.text, columns }));
    case "tool":
      return h(ToolView, { tool: block });
    case "thinking":
      return h(ThinkingView, { text: block.text, open: block.open });
    case "notice":
      return h(Text, { dimColor: true }, block.text);
    case "problem":
      return h(
        Box,
        { flexDirection: "column" },
        h(Text, { bold: true, ...colour("red") }, `✗ ${block.code}: ${block.message}`),
        h(Text, null, block.next),
      );
    case "facts":
      return h(
        Box,
        { flexDirection: "column", marginTop: 1 },
        block.facts.map((fact, index) => h(FactView, { fact, narrow: columns < NARROW, key: index })),
      );
    case "context":
      return h(
        Box,
        { flexDirection: "column", marginTop: 1 },
        contextLines(block.report, columns).map((line, index) => h(Text, { key: index }, line)),
      );
  }
}

function FactView({ fact, narrow }: { fact: Fact; narrow: boolean }): ReactNode {
  const name = h(Text, { bold: true }, fact.name);
  if (narrow) {
    return h(
      Box,
      { flexDirection: "column" },
      name,
      h(Box, { paddingLeft: 2 }, h(Text, { dimColor: true }, fact.text)),
    );
  }
  return h(
    Box,
    null,
    h(Box, { width: FACT_NAME, flexShrink: 0, paddingRight: 1 }, name),
    h(Text, { dimColor: true }, fact.text),
  );
}
