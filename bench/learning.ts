// The gain of search from use: the queries of a set are split at random; one part is used, the other is asked.
// "before" asks the same part without any use (0 uses), "naive" adds the squared cosines of the eight nearest uses to
// search's scores. Phrases: half of the tools get the used queries as phrases of their authors.
import { join } from "node:path";
import { analyzeQuery, cutQuery } from "../src/search/analysis/analyze-query.ts";
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

const USES = [1, 3, 10, 30];
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
    // Every tool may be used: how much do used tools gain? Only half of them may be: how much do the others lose?
    for (const half of [false, true]) rows.push(...(await curve(name, asked, half)));
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

async function curve(name: string, asked: readonly Asked[], half: boolean): Promise<Row[]> {
  const rows: Row[] = [];
  for (const wrong of WRONG_SHARES) {
    for (const uses of USES) {
      const tested: Asked[] = [];
      const answers: string[][] = [];
      const naiveAnswers: string[][] = [];
      for (let split = 0; split < SPLITS; split++) {
        const random = createRandom(1, split, 7);
        const { learning, naive, known, rest } = learn(shuffled(asked, random), uses, wrong, half, random);
        for (const question of rest.filter(({ gold }) => gold.some((id) => known.has(id)) !== half)) {
          const lifted = await learning.lift(ASKING, question.query, question.hits);
          tested.push(question);
          answers.push(lifted.map((hit) => hit.id));
          naiveAnswers.push(naive.rank(question.vector, question.hits));
        }
      }
      const system = `${half ? "never used" : "used"}, ${Math.round(wrong * 100)} % wrong`;
      rows.push(...compare(`${name}, ${uses} uses`, system, tested, { "": answers, " naive": naiveAnswers }));
    }
  }
  return rows;
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
    rows.push(...compare(`${name}, phrases`, has ? "tools with" : "tools without", tested, { "": answers }));
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

/** Uses the first questions, each tool at most `uses` times; `rest` is for asking. */
function learn(questions: readonly Asked[], uses: number, wrong: number, half: boolean, random: Random) {
  const learning = createLearning(termsOf);
  const naive = createNaiveNeighbours();
  const from = Math.floor(questions.length * (1 - ASKED_SHARE));
  const tools = [...new Set(questions.flatMap(({ gold }) => gold))];
  const unused = new Set(half ? shuffled(tools, random).slice(0, tools.length / 2) : []);
  const known = new Map<string, number>();
  for (const [number, question] of questions.slice(0, from).entries()) {
    const routes: string[] = [];
    for (const id of question.gold) {
      const count = known.get(id) ?? 0;
      if (count >= uses || unused.has(id)) continue;
      known.set(id, count + 1);
      const other = tools[Math.floor(random() * tools.length)]!;
      routes.push(random() < wrong && !unused.has(other) ? other : id);
    }
    use(learning, question, routes, `${number}`);
    for (const route of routes) naive.add(question.vector, route);
  }
  return { learning, naive, known, rest: questions.slice(from) };
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
  learning.note({ kind: "asked", scope: SCOPE, conversation, query, shown, found });
  for (const route of routes) learning.note({ kind: "used", scope: SCOPE, conversation, route });
}

function termsOf(query: string): string[] {
  return [...analyzeQuery(cutQuery(query)).terms.keys()];
}

function shuffled<T>(list: readonly T[], random: Random): T[] {
  return list
    .map((item) => ({ item, place: random() }))
    .sort((one, other) => one.place - other.place)
    .map(({ item }) => item);
}
