// One phase of one system at one size, in its own process: node measure.ts PHASE SYSTEM DOCUMENTS FOLDER.
// `build` makes and saves the index; `serve` opens the saved index and nothing else. Prints one JSON line.
import { type Corpus, type CorpusDocument, createCorpus } from "../corpus.ts";
import type { Engine } from "./engine.ts";
import { SYSTEMS } from "./systems.ts";

const BATCH = 1_000;
const QUERIES = 200;
const LIMIT = 10;
const WARM_UP_MS = 10_000;
const MEASURE_MS = 20_000;
const UPSERTS = 200;

const [phase, name, count, folder] = process.argv.slice(2);
const documents = Number(count);
const corpus = createCorpus();
const { createEngine } = await SYSTEMS.find((system) => system.name === name)!.load();
const engine = createEngine(folder!);
const figures = phase === "build" ? await build(engine) : await serve(engine);
await engine.close();
// Threads of native engines would keep the process alive.
process.stdout.write(`${JSON.stringify(figures)}\n`, () => process.exit(0));

async function build(engine: Engine): Promise<Record<string, number>> {
  const source = withoutMaking(corpus, documents);
  const started = performance.now();
  await engine.build(source.batches);
  const build_ms = performance.now() - started - source.makingMs();
  await engine.save();
  return { build_ms };
}

async function serve(engine: Engine): Promise<Record<string, number>> {
  const queries = corpus.queries(QUERIES, documents);
  const started = performance.now();
  await engine.reopen();
  const first = await engine.search(queries[0]!, LIMIT);
  const reopen_ms = performance.now() - started;
  if (first.length === 0) throw new Error(`${name} finds nothing`);
  await timeQueries(engine, queries, 1, WARM_UP_MS);
  const times = await timeQueries(engine, queries, 5, MEASURE_MS);
  globalThis.gc!();
  globalThis.gc!();
  const rss_mb = process.memoryUsage.rss() / 2 ** 20;
  const upserts = await timeUpserts(engine);
  return {
    reopen_ms,
    query_p50: quantile(times, 0.5),
    query_p95: quantile(times, 0.95),
    rss_mb,
    ...(upserts.length > 0 && { upsert_p50: quantile(upserts, 0.5), upsert_p95: quantile(upserts, 0.95) }),
  };
}

/** The batches of the corpus, and the time spent making them. */
function withoutMaking(
  source: Corpus,
  total: number,
): { batches: Iterable<CorpusDocument[]>; makingMs(): number } {
  let making = 0;
  function* batches(): Generator<CorpusDocument[]> {
    let started = performance.now();
    for (const batch of source.batches(total, BATCH)) {
      making += performance.now() - started;
      yield batch;
      started = performance.now();
    }
  }
  return { batches: batches(), makingMs: () => making };
}

/** Times each query, over several rounds unless a round takes too long. */
async function timeQueries(
  engine: Engine,
  queries: readonly string[],
  rounds: number,
  maxMs: number,
): Promise<number[]> {
  const times: number[] = [];
  const end = performance.now() + maxMs;
  for (let at = 0; at < rounds * queries.length && performance.now() < end; at++) {
    const query = queries[at % queries.length]!;
    const started = performance.now();
    await engine.search(query, LIMIT);
    times.push(performance.now() - started);
  }
  return times;
}

async function timeUpserts(engine: Engine): Promise<number[]> {
  const times: number[] = [];
  if (engine.upsert === undefined) return times;
  const end = performance.now() + MEASURE_MS;
  for (let at = 0; at < UPSERTS && performance.now() < end; at++) {
    const document = corpus.at(Math.floor((at * documents) / UPSERTS), 1);
    const started = performance.now();
    await engine.upsert(document);
    times.push(performance.now() - started);
  }
  return times;
}

function quantile(times: readonly number[], share: number): number {
  const sorted = times.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
}
