// Quality and speed of search: plain BM25, words alone, vectors alone, both, and a whole ask.
import { join } from "node:path";
import { createGateway } from "keyhole";
import { loadTokenCounter } from "../src/base/tokens/tokens.ts";
import { cutQuery } from "../src/search/analysis/analyze-query.ts";
import { queryParts } from "../src/search/analysis/split-needs.ts";
import { createEmbeddedIndex } from "../src/search/embedded-index.ts";
import type { SearchIndex } from "../src/search/port/search-index.ts";
import { VectorIndex } from "../src/search/vector-index.ts";
import type { Embedder } from "../src/search/vectors/embedder.ts";
import { createStaticEmbedder } from "../src/search/vectors/static-embedder.ts";
import type { Benchmark, Row } from "./benchmark.ts";
import { percentile } from "./percentile.ts";
import { createPlainBm25 } from "./plain-bm25.ts";
import { measure, recallOf } from "./search-metrics.ts";
import { readSearchSet, type SearchSet } from "./search-sets.ts";
import { listSets, toDomains } from "./tool-sets.ts";

const FILTER = { scopes: [] };
const LIMIT = 10;
const BORROWED = 500;
const ODD_ROUNDS = 20;
const SHOWN_QUERIES = 200;
/** Answers as `ask` cuts them itself, and with as many hits as a caller wants. */
const SHOWN: Readonly<Record<string, { readonly limit?: number }>> = {
  default: {},
  ten: { limit: 10 },
  twelve: { limit: 12 },
};
const ALL_SETS = "all sets";
/** Queries of a careless or hostile caller. */
const ODD_QUERIES = [
  "",
  " ",
  "the of and",
  "😀🎉",
  "((.*)+)+$",
  "a\0b",
  "\ud800",
  "x".repeat(2 ** 20),
  "word ".repeat(2 ** 18),
];

type Find = (query: string) => Promise<readonly string[]>;

export const benchmark: Benchmark = async ({ data }) => {
  const sets = listSets(data).map((name) => ({ name, set: readSearchSet(join(data!, name)) }));
  const borrowed = sample(sets.flatMap(({ set }) => set.questions.map(({ query }) => query)));
  const rows: Row[] = [];
  for (const { name, set } of sets) {
    if (set.questions.length > 0) {
      for (const [system, find] of await createSystems(set)) {
        rows.push(...(await quality(name, system, set, find)));
      }
    }
    const own = set.questions.map(({ query }) => query);
    rows.push(...(await wholeAsk(name, set, own.length > 0 ? own : borrowed)));
    if (own.length > 0) rows.push(...(await shown(name, set)));
  }
  return [...rows, ...meansOf(rows.filter(({ system }) => system.startsWith("shown-")))];
};

/** Queries for sets that have none. The time of an ask does not depend on whether it finds anything. */
function sample(queries: readonly string[]): string[] {
  const step = Math.max(1, Math.floor(queries.length / BORROWED));
  return queries.filter((_, index) => index % step === 0);
}

async function createSystems(set: SearchSet): Promise<[string, Find][]> {
  const embedder = createStaticEmbedder();
  const bm25 = createPlainBm25(set.documents);
  return [
    ["bm25", async (query) => bm25(query)],
    ["lexical", await filled(createEmbeddedIndex(), set)],
    ["vector", await vectorsAlone(set, embedder)],
    ["hybrid", await filled(createEmbeddedIndex({ embedder }), set)],
  ];
}

async function filled(index: SearchIndex & { settled(): Promise<void> }, set: SearchSet): Promise<Find> {
  await index.put(set.documents);
  await index.settled();
  return async (query) => (await index.search({ query, limit: LIMIT, filter: FILTER })).map((hit) => hit.id);
}

async function vectorsAlone(set: SearchSet, embedder: Embedder): Promise<Find> {
  const side = new VectorIndex(embedder);
  side.put(set.documents);
  await side.settled();
  return async (query) => {
    const vectors = await side.embedQuery(queryParts(cutQuery(query)));
    return side
      .search(vectors, FILTER, [])
      .slice(0, LIMIT)
      .map((hit) => hit.id);
  };
}

async function quality(name: string, system: string, set: SearchSet, find: Find): Promise<Row[]> {
  const answers: (readonly string[])[] = [];
  for (const { query } of set.questions) answers.push(await find(query));
  return Object.entries(measure(set.questions, answers)).map(([metric, value]) => ({
    bench: "search",
    case: name,
    system,
    metric,
    value,
    unit: "share",
  }));
}

/** The mean over the sets, for each system and metric. */
function meansOf(rows: readonly Row[]): Row[] {
  const groups = Map.groupBy(rows, ({ system, metric }) => `${system} ${metric}`);
  return Array.from(groups.values(), (group) => ({
    ...group[0]!,
    case: ALL_SETS,
    value: group.reduce((sum, { value }) => sum + value, 0) / group.length,
  }));
}

/** Compares the recall of what an answer shows with the tokens that it takes. */
async function shown(name: string, set: SearchSet): Promise<Row[]> {
  const countTokens = await loadTokenCounter();
  const { domains, routes } = toDomains(set.tools);
  const gateway = createGateway({ domains, learning: false });
  const step = Math.max(1, Math.floor(set.questions.length / SHOWN_QUERIES));
  const questions = set.questions.filter((_, at) => at % step === 0);
  const rows: Row[] = [];
  for (const [system, options] of Object.entries(SHOWN)) {
    const tokens: number[] = [];
    const answers: string[][] = [];
    for (const { query } of questions) {
      const { text, hits } = await gateway.ask({ query, ...options });
      tokens.push(countTokens(text));
      answers.push(hits.map(({ route }) => routes.get(route)!));
    }
    const row = { bench: "search", case: name, system: `shown-${system}` };
    const recall = questions.reduce((sum, { groups }, at) => sum + recallOf(groups, answers[at]!), 0);
    rows.push({ ...row, metric: "R@shown", value: recall / questions.length, unit: "share" });
    rows.push({ ...row, metric: "shown_tokens_p50", value: percentile(tokens, 50), unit: "tokens" });
  }
  await gateway.close();
  return rows;
}

/** The price of one `ask` for an agent, in tokens and in time. */
async function wholeAsk(name: string, set: SearchSet, queries: readonly string[]): Promise<Row[]> {
  const countTokens = await loadTokenCounter();
  const gateway = createGateway({ domains: toDomains(set.tools).domains, learning: false });
  await gateway.ask({ query: "warm up" });
  const tokens: number[] = [];
  const times: number[] = [];
  for (const query of queries) {
    const started = performance.now();
    const { text } = await gateway.ask({ query });
    times.push(performance.now() - started);
    tokens.push(countTokens(text));
  }
  const oddTimes: number[] = [];
  for (let round = 0; round < ODD_ROUNDS; round++) {
    for (const query of ODD_QUERIES) {
      const started = performance.now();
      await gateway.ask({ query });
      oddTimes.push(performance.now() - started);
    }
  }
  await gateway.close();
  const row = (metric: string, value: number, unit: string): Row => ({
    bench: "search",
    case: name,
    system: "hybrid",
    metric,
    value,
    unit,
  });
  return [
    row("ask_tokens_p50", percentile(tokens, 50), "tokens"),
    row("ask_tokens_max", Math.max(...tokens), "tokens"),
    row("ask_p50_ms", percentile(times, 50), "ms"),
    row("ask_p95_ms", percentile(times, 95), "ms"),
    row("odd_p99_ms", percentile(oddTimes, 99), "ms"),
  ];
}
