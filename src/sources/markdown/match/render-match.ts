import { cutText } from "../../../util/cut-text.ts";
import type { TokenCounter } from "../../../util/tokens.ts";
import type { Fragment, Match } from "./fragment.ts";

const INDEX_TOKENS = 120;
const INDEX_RESULTS = 5;
const REASON_CHARS = 60;
const NOTHING = "No fragment matches. Use other words, fewer tags or categories, or a lower minScore.";

/** A match with the sentence that explains it best. */
export interface IndexLine extends Match {
  readonly reason: string;
}

/** The addresses of the best five within 120 tokens: reasons go before lines do. */
export function renderIndex(
  lines: readonly IndexLine[],
  maxResults: number,
  countTokens: TokenCounter,
): string {
  if (lines.length === 0) return NOTHING;
  const shown = lines.slice(0, Math.min(INDEX_RESULTS, maxResults));
  for (let count = shown.length; count > 1; count--) {
    for (let reasons = count; reasons >= Math.min(count, 1); reasons--) {
      const text = indexText(shown.slice(0, count), reasons, lines.length);
      if (countTokens(text) <= INDEX_TOKENS) return text;
    }
  }
  const text = indexText(shown.slice(0, 1), 1, lines.length);
  return countTokens(text) <= INDEX_TOKENS ? text : indexText(shown.slice(0, 1), 0, lines.length);
}

function indexText(lines: readonly IndexLine[], reasons: number, total: number): string {
  const rows = lines.map(({ fragment, reason }, index) => {
    const why = index < reasons && reason !== "" ? `: ${cutText(reason, REASON_CHARS)}` : "";
    return `- ${fragment.route} (~${fragment.estimatedTokens})${why}`;
  });
  return [`Best ${lines.length} of ${total}, with tokens. Read them with get.`, ...rows].join("\n");
}

/** What each match is for, within the budget: the weakest are left out first, and counted. */
export function renderCatalog(
  matches: readonly Match[],
  { maxResults, maxTokens }: { readonly maxResults: number; readonly maxTokens: number },
  countTokens: TokenCounter,
): string {
  if (matches.length === 0) return NOTHING;
  const cards = matches.slice(0, maxResults).map(toCard);
  const available = matches.reduce((sum, { fragment }) => sum + fragment.estimatedTokens, 0);
  const toText = (count: number) =>
    [
      "# Resource Catalog",
      `**Query Results:** ${matches.length} matched ${matches.length === 1 ? "resource" : "resources"}, ${count} shown\n**Total Tokens Available:** ${available}`,
      "Read a resource by its route, with get, when it is needed.",
      ...cards.slice(0, count),
    ].join("\n\n");
  const costs = cards.map((card) => countTokens(card) + 2);
  let count = cards.length;
  for (let sum = costs.reduce((one, other) => one + other, 64); sum > maxTokens && count > 1; )
    sum -= costs[--count]!;
  return toText(count);
}

function toCard({ fragment, score }: Match, index: number): string {
  const { tags, capabilities, useWhen, estimatedTokens, route } = fragment;
  return [
    `## ${index + 1}. ${headingOf(fragment)}`,
    `**Relevance Score:** ${score}`,
    ...lineOf("Tags", tags),
    ...listOf("Capabilities", capabilities),
    ...listOf("Use When", useWhen),
    `**Estimated Tokens:** ~${estimatedTokens}`,
    `**Route:** ${route}`,
  ].join("\n");
}

/** The texts of the selected fragments, one after the other. */
export function renderFull(matches: readonly Match[]): string {
  if (matches.length === 0) return NOTHING;
  return matches
    .map(({ fragment, score }) =>
      [
        `## ${headingOf(fragment)}`,
        `**Relevance Score:** ${score}`,
        ...lineOf("Tags", fragment.tags),
        ...lineOf("Capabilities", fragment.capabilities),
        "",
        fragment.body,
      ].join("\n"),
    )
    .join("\n\n---\n\n");
}

function headingOf({ category, id }: Fragment): string {
  return `${category.slice(0, 1).toUpperCase()}${category.slice(1)}: ${id}`;
}

function lineOf(title: string, words: readonly string[]): string[] {
  return words.length === 0 ? [] : [`**${title}:** ${words.join(", ")}`];
}

function listOf(title: string, items: readonly string[]): string[] {
  return items.length === 0 ? [] : [`**${title}:**`, ...items.map((item) => `  - ${item}`)];
}
