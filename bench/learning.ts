// The gain of search from use, over all queries of a random split: three quarters of a set's queries are used, the
// others are asked, whether or not their tools were among the used ones. "before" asks them without any use, "naive"
// adds the squared cosines of the eight nearest uses to search's scores. Phrases: half of the tools get the used
// queries as phrases of their authors.
import { join } from "node:path";
import { createEmbeddedIndex } from "../src/search/embedded-index.ts";
import { createLearning, type Learning } from "../src/search/learning/learning.ts";
import { liftByPhrases, type Phrased } from "../src/search/learning/phrase-lift.ts";
import type { SearchHit } from "../src/search/port/search-index.ts";
import { createStaticEmbedder } from "../src/search/vectors/static-embedder.ts";
import type { Benchmark, Row } from "./benchmark.ts";
import { createRandom, type Random } from "./corpus.ts";
import { createNaiveNeighbours } from "./naive-neighbours.ts";
import { measure } from "./search-metrics.ts";
import { type Question, readSearchSet, type SearchSet } from "./search-sets.ts";
import { listSets } from "./tool-sets.ts";

/** Share of the uses that call a tool by mistake. */
const WRONG_SHARES = [0, 0.2];
const SPLITS = 2;
const ASKED_SHARE = 0.25;
const DEPTH = 20;
const SHOWN = 10;
const SCOPE = "bench";
const ASKING = { scope: SCOPE, conversation: "asking", principal: "asking" };

const MOST_PHRASES = 30;

interface Asked extends Question {
  readonly hits: readonly SearchHit[];
  readonly vector: Float32Array;
}

export const benchmark: Benchmark = async ({ data }) => {
  const rows: Row[] = [];
  for (const name of listSets(data)) {
    const set = readSearchSet(join(data!, name));
    if (set.questions.length === 0) continue;
    const asked = await searchAll(set);
    for (const wrong of WRONG_SHARES) rows.push(...(await uses(name, asked, wrong)));
    rows.push(...(await phrases(name, asked)));
  }
  return rows;
};

async function searchAll(set: SearchSet): Promise<Asked[]> {
  const embedder = createStaticEmbedder();
  const index = createEmbeddedIndex({ embedder });
  await index.put(set.documents);
  await index.settled();
  const asked: Asked[] = [];
  for (const question of set.questions) {
    const hits = await index.search({ query: question.query, limit: DEPTH, filter: { scopes: [] } });
    const [vector] = await embedder.embed([question.query]);
    asked.push({ ...question, hits, vector: vector! });
  }
  return asked;
}

async function uses(name: string, asked: readonly Asked[], wrong: number): Promise<Row[]> {
  const tested: Asked[] = [];
  const answers: string[][] = [];
  const naiveAnswers: string[][] = [];
  for (let split = 0; split < SPLITS; split++) {
    const random = createRandom(1, split, 7);
    const questions = shuffled(asked, random);
    const from = Math.floor(questions.length * (1 - ASKED_SHARE));
    const { learning, naive } = learn(questions.slice(0, from), asked, wrong, random);
    for (const question of questions.slice(from)) {
      const lifted = await learning.lift(ASKING, question.query, question.hits);
      tested.push(question);
      answers.push(lifted.map((hit) => hit.id));
      naiveAnswers.push(naive.rank(question.vector, question.hits));
    }
  }
  const system = `use, ${Math.round(wrong * 100)} % wrong`;
  return compare(name, system, tested, { " after": answers, " naive": naiveAnswers });
}

/** Do phrases of some tools push the others down? */
async function phrases(name: string, asked: readonly Asked[]): Promise<Row[]> {
  const random = createRandom(1, 0, 7);
  const questions = shuffled(asked, random);
  const from = Math.floor(questions.length * (1 - ASKED_SHARE));
  const tools = [...new Set(questions.flatMap(({ gold }) => gold))];
  const phrased = new Map(
    shuffled(tools, random)
      .slice(tools.length / 2)
      .map((id): [string, string[]] => [id, []]),
  );
  for (const { query, gold } of questions.slice(0, from)) {
    for (const id of gold)
      if ((phrased.get(id)?.length ?? MOST_PHRASES) < MOST_PHRASES) phrased.get(id)!.push(query);
  }
  const entries = Array.from(phrased, ([route, own]): Phrased => ({ route, phrases: own }));
  const rows: Row[] = [];
  for (const has of [true, false]) {
    const tested = questions
      .slice(from)
      .filter(({ gold }) => gold.some((id) => phrased.get(id)?.length) === has);
    const answers: string[][] = [];
    for (const { query, hits } of tested) {
      answers.push((await liftByPhrases(query, hits, entries)).map((hit) => hit.id));
    }
    rows.push(...compare(name, `phrases, tools ${has ? "with" : "without"}`, tested, { " after": answers }));
  }
  return rows;
}

function compare(
  name: string,
  system: string,
  tested: readonly Asked[],
  answers: Readonly<Record<string, readonly string[][]>>,
): Row[] {
  if (tested.length === 0) return [];
  const before = tested.map(({ hits }) => hits.map((hit) => hit.id));
  const row = { bench: "learning", case: name, system, unit: "share" };
  return Object.entries({ " before": before, ...answers }).flatMap(([suffix, ids]) => {
    const metrics = measure(tested, ids);
    return (["R@1", "R@5"] as const).map((metric) => ({
      ...row,
      metric: `${metric}${suffix}`,
      value: metrics[metric],
    }));
  });
}

/** Uses a tool for each question; a share of them another tool of the set instead. */
function learn(used: readonly Asked[], all: readonly Asked[], wrong: number, random: Random) {
  const learning = createLearning();
  const naive = createNaiveNeighbours();
  const tools = [...new Set(all.flatMap(({ gold }) => gold))];
  for (const [number, question] of used.entries()) {
    const routes = question.gold.map((id) =>
      random() < wrong ? tools[Math.floor(random() * tools.length)]! : id,
    );
    use(learning, question, routes, `${number}`);
    for (const route of routes) naive.add(question.vector, route);
  }
  return { learning, naive };
}

/** One ask and the calls that followed it, as a gateway records them. */
function use(
  learning: Learning,
  { query, hits }: Asked,
  routes: readonly string[],
  conversation: string,
): void {
  if (routes.length === 0) return;
  const best = hits[0]?.score ?? 1;
  const found = hits.slice(0, SHOWN).map(({ id, score }): [string, number] => [id, score / best]);
  const shown = found.map(([id]) => id);
  const { scope, principal } = ASKING;
  learning.note({ kind: "asked", scope, principal, conversation, query, shown, found });
  for (const route of routes) learning.note({ kind: "used", scope, principal, conversation, route });
}

function shuffled<T>(list: readonly T[], random: Random): T[] {
  return list
    .map((item) => ({ item, place: random() }))
    .sort((one, other) => one.place - other.place)
    .map(({ item }) => item);
}
