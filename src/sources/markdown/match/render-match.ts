import type { TokenCounter } from "../../../base/tokens/tokens.ts";
import { cutText } from "../../../base/util/cut-text.ts";
import { countPresent, toWordLine } from "../files/keywords.ts";
import type { FragmentFile } from "../files/parse-file.ts";

/** A fragment for matching. */
export type Fragment = FragmentFile["facts"] & {
  readonly route: string;
  /** The shown address: the library's own URI, or the route. */
  readonly address: string;
  /** The folder below `fragments/`; empty for none. */
  readonly folder: string;
  readonly body: string;
};

/** A fragment that a query matches, with a score of 1 to 100. */
export interface FragmentMatch {
  readonly fragment: Fragment;
  readonly score: number;
}

const INDEX_TOKENS = 120;
const INDEX_RESULTS = 5;
const REASON_CHARS = 60;
const ALWAYS = 3;
const ENOUGH = 0.8;
const SEPARATOR = "\n\n---\n\n";
const NOTHING = "No fragment matches. Use other words, fewer tags or categories, or a lower minScore.";

/** Lists the addresses of the best five within 120 tokens. Reasons are dropped before lines. */
export function renderIndex(
  matches: readonly FragmentMatch[],
  keywords: readonly string[],
  maxResults: number,
  countTokens: TokenCounter,
): string {
  if (matches.length === 0) return NOTHING;
  const rows = matches.slice(0, Math.min(INDEX_RESULTS, maxResults)).map(({ fragment }) => ({
    line: `- ${fragment.address} (~${fragment.estimatedTokens})`,
    reason: reasonOf(fragment, keywords),
  }));
  const toText = (count: number, reasons: number) =>
    [
      `Best ${count} of ${matches.length}, with tokens. Read a fragment by its address.`,
      ...rows
        .slice(0, count)
        .map(({ line, reason }, at) => (at < reasons && reason !== "" ? `${line}: ${reason}` : line)),
    ].join("\n");
  for (let count = rows.length; count > 0; count--) {
    for (let reasons = count; reasons > 0; reasons--) {
      const text = toText(count, reasons);
      if (countTokens(text) <= INDEX_TOKENS) return text;
    }
  }
  return toText(1, 0);
}

/** The use that has most of the keywords; without uses, the description. */
function reasonOf({ useWhen, description }: Fragment, keywords: readonly string[]): string {
  const present = (text: string) => countPresent(keywords, toWordLine(text));
  const best = useWhen.toSorted((one, other) => present(other) - present(one))[0];
  return cutText(best ?? description, REASON_CHARS);
}

/** Describes each match within the budget. The weakest are left out first and counted. */
export function renderCatalog(
  matches: readonly FragmentMatch[],
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
      "Read a resource by its address when it is needed.",
      ...cards.slice(0, count),
    ].join("\n\n");
  const costs = cards.map((card) => countTokens(card) + 2);
  let count = cards.length;
  for (let sum = costs.reduce((one, other) => one + other, 64); sum > maxTokens && count > 1; )
    sum -= costs[--count]!;
  return toText(count);
}

function toCard({ fragment, score }: FragmentMatch, index: number): string {
  const { tags, capabilities, useWhen, estimatedTokens, address } = fragment;
  return [
    `## ${index + 1}. ${headingOf(fragment)}`,
    `**Relevance Score:** ${score}/100`,
    ...lineOf("Tags", tags),
    ...listOf("Capabilities", capabilities),
    ...listOf("Use When", useWhen),
    `**Estimated Tokens:** ~${estimatedTokens}`,
    `**Load:** ${address}`,
  ].join("\n");
}

/**
 * The whole texts of the best three, then of others that fit, up to four fifths of the budget. Expects the best first.
 */
export function renderFull(
  matches: readonly FragmentMatch[],
  maxTokens: number,
  countTokens: TokenCounter,
): string {
  if (matches.length === 0) return NOTHING;
  const sections: string[] = [];
  let used = 0;
  for (const match of matches) {
    const section = toSection(match);
    const cost = countTokens(section + SEPARATOR);
    const always = sections.length < ALWAYS;
    if (always || used + cost <= maxTokens) {
      sections.push(section);
      used += cost;
    }
    if (!always && used > maxTokens * ENOUGH) break;
  }
  return sections.join(SEPARATOR);
}

function toSection({ fragment, score }: FragmentMatch): string {
  return [
    `## ${headingOf(fragment)}`,
    `**Relevance Score:** ${score}`,
    ...lineOf("Tags", fragment.tags),
    ...lineOf("Capabilities", fragment.capabilities),
    "",
    fragment.body,
  ].join("\n");
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
