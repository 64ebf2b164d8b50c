import type { TokenCounter } from "../../src/base/tokens/tokens.ts";
import { readRows } from "../facts.ts";
import { offeredTools, withoutHidden } from "../offered-tools.ts";
import { toolResults } from "../tool-results.ts";
import type { Way } from "../tour/tour.ts";
import { type Catalogue, type CatalogueSize, keyOf, type LabQuery, letters } from "./catalogue.ts";
import { namesIn } from "./model.ts";
import type { SearchObserved } from "./searches.ts";

/** The searches of one client over one catalogue in figures. Tokens are o200k. */
export interface SearchRow {
  readonly client: string;
  readonly version: string;
  readonly way: Way;
  readonly size: CatalogueSize;
  readonly queries: number;
  /** Needs of the queries, and those for which a right tool is among the hits. */
  readonly needs: number;
  readonly met: number;
  /** Hits of all queries. */
  readonly hits: number;
  /** Tokens of all answers, definitions that a search loads included. */
  readonly answers: number;
  /** Tokens of the first request. */
  readonly first: number;
  /** After the servers were started again: whether the next call works, a search finds its tool, and the call after it works. */
  readonly restart: readonly [boolean, boolean, boolean];
  /** Needs of the last query, and those that a sub-agent's search meets; undefined if the client has none. */
  readonly agentNeeds?: number | undefined;
  readonly agent?: number | undefined;
}

export function toSearchRow(
  about: Pick<SearchRow, "client" | "version" | "way" | "size">,
  { requests, agentRequests, moves }: SearchObserved,
  { tools, queries }: Catalogue,
  countTokens: TokenCounter,
): SearchRow {
  const keys = new Set(tools.map(keyOf));
  const bodies = requests.filter((body) => offeredTools(body).length > 0);
  const answers = queries.map((_, at) => answerAt(bodies, at, keys, countTokens));
  const metOf = (hits: ReadonlySet<string>, { gold }: LabQuery) =>
    gold.filter((tool) => hits.has(keyOf(tool))).length;
  const texts = toolResults(bodies.at(-1) ?? {}).map(({ text }) => text);
  const worksAt = (step: string) => {
    const at = moves.findIndex((move) => move.step === step);
    return at >= 0 && (texts[at] ?? "").includes("was called");
  };
  const again = moves.findIndex(({ step }) => step === "again") + 1;
  const asked = queries.find(({ query }) => query === moves[again]?.query);
  const isFoundAgain =
    asked !== undefined && metOf(answerAt(bodies, again, keys, countTokens).hits, asked) > 0;
  const agentBody = agentRequests.at(-1);
  const agent = agentBody === undefined ? undefined : answerAt(agentRequests, 0, keys, countTokens);
  return {
    ...about,
    queries: queries.length,
    needs: queries.reduce((sum, { gold }) => sum + gold.length, 0),
    met: queries.reduce((sum, query, at) => sum + metOf(answers[at]!.hits, query), 0),
    hits: answers.reduce((sum, { hits }) => sum + hits.size, 0),
    answers: answers.reduce((sum, { tokens }) => sum + tokens, 0),
    first: countTokens(JSON.stringify(withoutHidden(bodies[0] ?? {}))),
    restart: [worksAt("again"), isFoundAgain, worksAt("after")],
    ...(agent && {
      agentNeeds: queries.at(-1)!.gold.length,
      agent: metOf(agent.hits, queries.at(-1)!),
    }),
  };
}

/** The hits and tokens of one answer: its text, and the definitions that the next request has more. */
function answerAt(
  bodies: readonly unknown[],
  at: number,
  keys: ReadonlySet<string>,
  countTokens: TokenCounter,
): { readonly hits: ReadonlySet<string>; readonly tokens: number } {
  const bodyWith = (results: number) => bodies.find((body) => toolResults(body).length === results) ?? {};
  const text = toolResults(bodyWith(at + 1))[at]?.text ?? "";
  const definitions = (body: unknown) =>
    countTokens(JSON.stringify((withoutHidden(body) as { tools?: unknown }).tools ?? []));
  const loaded = definitions(bodyWith(at + 1)) - definitions(bodyWith(at));
  return {
    hits: new Set([...namesIn(text), ...namesOfTools(text)].filter((name) => keys.has(name))),
    tokens: countTokens(text) + Math.max(0, loaded),
  };
}

/** The names in an answer that is a list of definitions, which Codex has by server. */
function namesOfTools(text: string): string[] {
  if (!text.startsWith("[{")) return [];
  const offered = offeredTools({ tools: JSON.parse(text) });
  return offered.map(({ name, namespace = "" }) => letters(`${namespace}_${name}`.replace(/^_?mcp_+/, "")));
}

/** The recorded searches. */
export function readSearches(): Promise<SearchRow[]> {
  return readRows("searches");
}

/** A line of a table: the share of needs met, hits and tokens of an answer, and the first request. */
export function searchFigures({ queries, needs, met, hits, answers, first }: SearchRow): string {
  const each = (sum: number) => Math.round(sum / queries).toLocaleString("en");
  return `${met} of ${needs} / ${(hits / queries).toFixed(1)} / ${each(answers)} / ${first.toLocaleString("en")}`;
}
