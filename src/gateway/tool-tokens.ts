import type { TokenCounter } from "../base/tokens/tokens.ts";
import { cutText } from "../base/util/cut-text.ts";
import type { Entry } from "../core/nouns/entry.ts";
import { definitionTokens } from "./approvals.ts";

/** The tokens of one tool, by what a client may show of it. */
export interface ToolTokens {
  readonly definitions: number;
  readonly summaries: number;
  readonly names: number;
}

/** How a client puts the tools of its servers into each request to its model. */
export interface ListingWay {
  /** A `search` tool alone, `names`, names with `summaries`, or whole `definitions`. */
  readonly shows: keyof ToolTokens | "search";
  /** The fewest tools that the client hides this way. It lists fewer as whole definitions. */
  readonly from?: number;
}

/** Clients that show the beginning of descriptions cut them here. */
const SUMMARY_CHARS = 160;
/** The search tool of a client that shows neither names nor definitions, as measured in Codex. */
const SEARCH_TOOL = 427;

/** The tokens of a tool by what clients show of it. */
export function toolTokens(tool: Entry, countTokens: TokenCounter): ToolTokens {
  const { name, description = "" } = tool.origin?.definition ?? tool;
  const names = countTokens(`mcp__${tool.domain}__${name}\n`);
  return {
    definitions: definitionTokens(tool, countTokens),
    summaries: names + countTokens(cutText(String(description), SUMMARY_CHARS)),
    names,
  };
}

/** The part of its tools that a client shows, for this many of them. */
export function shownPart({ shows, from = 0 }: ListingWay, count: number): ListingWay["shows"] {
  return count < from ? "definitions" : shows;
}

/** The tokens of tools in each request of a client. */
export function listedTokens(tools: readonly ToolTokens[], way: ListingWay): number {
  const part = shownPart(way, tools.length);
  return part === "search" ? SEARCH_TOOL : tools.reduce((total, tool) => total + tool[part], 0);
}
