// One system at one number of vectors, in its own process: node measure.ts SYSTEM VECTORS FOLDER. Prints one JSON line.

import { vectorText } from "../../../src/search/vectors/embedder.ts";
import { createStaticEmbedder } from "../../../src/search/vectors/static-embedder.ts";
import { createCorpus } from "../../corpus.ts";
import { percentile } from "../../percentile.ts";
import { toSearchDocument } from "../to-search-document.ts";
import type { VectorEngine } from "./engine.ts";
import { createExact } from "./keyhole.ts";
import { VECTOR_SYSTEMS } from "./systems.ts";

const BATCH = 1_000;
const QUERIES = 200;
const LIMIT = 10;

const [name, count, folder] = process.argv.slice(2);
const total = Number(count);
const corpus = createCorpus();
const table = await createStaticEmbedder().load();
const queries = corpus.queries(QUERIES, total).map((query) => table.embed(query));
const { createEngine } = await VECTOR_SYSTEMS.find((system) => system.name === name)!.load();
const exact = createExact(folder!, queries[0]!.length);
const engine = createEngine(folder!, queries[0]!.length);

let building = 0;
let first = 0;
for (const batch of corpus.batches(total, BATCH)) {
  const vectors = batch.map((document) => table.embed(vectorText(toSearchDocument(document))));
  exact.add(first, vectors);
  const started = performance.now();
  await engine.add(first, vectors);
  building += performance.now() - started;
  first += batch.length;
}
const started = performance.now();
await engine.finish();
building += performance.now() - started;

const right = await searchAll(exact);
await searchAll(engine);
const found = await searchAll(engine);
const held = found.numbers.map((numbers, at) => {
  const wanted = new Set(right.numbers[at]);
  return numbers.filter((number) => wanted.has(number)).length / wanted.size;
});
const figures = {
  vectors_build_ms: building,
  vectors_p50: percentile(found.times, 50),
  vectors_p95: percentile(found.times, 95),
  vectors_exact_p50: percentile(right.times, 50),
  vectors_recall: held.reduce((sum, share) => sum + share, 0) / held.length,
};
await engine.close();
process.stdout.write(`${JSON.stringify(figures)}\n`, () => process.exit(0));

async function searchAll(searched: VectorEngine): Promise<{ numbers: number[][]; times: number[] }> {
  const times: number[] = [];
  const numbers: number[][] = [];
  for (const query of queries) {
    const before = performance.now();
    numbers.push(await searched.search(query, LIMIT));
    times.push(performance.now() - before);
  }
  return { numbers, times };
}
