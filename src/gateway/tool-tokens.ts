import type { TokenCounter } from "../base/tokens/tokens.ts";
import { cutText } from "../base/util/cut-text.ts";
import type { Entry } from "../core/nouns/entry.ts";
import { definitionTokens } from "./approvals.ts";

/** Tokens of one tool, by what a client shows of it. */
export interface ToolTokens {
  readonly definitions: number;
  readonly summaries: number;
  readonly names: number;
}

/** How a client lists tools in each request to its model. */
export interface ListingWay {
  /** Only a `search` tool, the `names`, names with `summaries`, or whole `definitions`. */
  readonly shows: keyof ToolTokens | "search";
  /** The fewest tools that the client hides this way. Fewer are listed as whole definitions. */
  readonly from?: number;
}

/** Clients that show the beginning of a description cut it here. */
const SUMMARY_CHARS = 160;
/** Tokens of the search tool in a client that shows neither names nor definitions, as measured in Codex. */
const SEARCH_TOOL = 427;

export function toolTokens(tool: Entry, countTokens: TokenCounter): ToolTokens {
  const { name, description = "" } = tool.origin?.definition ?? tool;
  const names = countTokens(`mcp__${tool.domain}__${name}\n`);
  return {
    definitions: definitionTokens(tool, countTokens),
    summaries: names + countTokens(cutText(String(description), SUMMARY_CHARS)),
    names,
  };
}

/** The part of this many tools that a client shows. */
export function shownPart({ shows, from = 0 }: ListingWay, count: number): ListingWay["shows"] {
  return count < from ? "definitions" : shows;
}

/** Tokens of all tools in each request of a client. */
export function listedTokens(tools: readonly ToolTokens[], way: ListingWay): number {
  const part = shownPart(way, tools.length);
  return part === "search" ? SEARCH_TOOL : tools.reduce((total, tool) => total + tool[part], 0);
}
