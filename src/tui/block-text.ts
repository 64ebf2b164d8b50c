import type { Block } from "./chat-state.ts";
import { contextLines } from "./context-bar.ts";
import { foldResult, toDuration } from "./fold-tool.ts";
import { thinkingLine } from "./thinking-view.ts";

const PLAIN_COLUMNS = 72;

/** A block as plain lines, for pipes and files. */
export function blockText(block: Block): string {
  switch (block.kind) {
    case "prompt":
      return `> ${block.text}`;
    case "answer":
      return block.text;
    case "tool": {
      const time = block.ms === undefined ? "" : ` (${toDuration(block.ms)})`;
      const result = block.text === undefined ? "" : `: ${foldResult(block.text)}`;
      const diff = block.diff === undefined ? "" : `\n${block.diff.trimEnd()}`;
      return `[${block.status}] ${block.tool} ${block.args}${time}${result}${diff}`;
    }
    case "thinking":
      return thinkingLine(block.text);
    case "notice":
      return block.text;
    case "problem":
      return `${block.code}: ${block.message}\n${block.next}`;
    case "facts":
      return block.facts.map(({ name, text }) => `${name}: ${text}`).join("\n");
    case "context":
      return contextLines(block.report, PLAIN_COLUMNS).join("\n");
  }
}
