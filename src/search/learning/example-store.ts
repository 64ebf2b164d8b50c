import { setImmediate } from "node:timers/promises";
import { termsOf } from "../analysis/analyze-query.ts";
import type { SearchHit } from "../port/search-index.ts";
import { USE } from "../ranking/tuning.ts";
import type { Embedder } from "../vectors/embedder.ts";
import { ExampleMemory, type LearnedExample } from "./example-memory.ts";
import { ChoiceModel, liftHits, liftShared, toCandidates, weighNeighbours } from "./lift-hits.ts";

/** A principal that learns from its own use, among the entries of a scope. */
export interface Learner {
  readonly scope: string;
  readonly principal: string;
}

/** A change to the examples of a principal. Replaying the changes in order gives the same examples. */
export type ExampleChange =
  | ({
      readonly kind: "add";
      readonly learner: Learner;
      readonly query: string;
      /** Search's own result for the query: each entry with its share of the best score. */
      readonly found: ReadonlyMap<string, number>;
    } & Omit<LearnedExample, "terms" | "vector">)
  | { readonly kind: "weigh"; readonly learner: Learner; readonly id: string; readonly weight: number };

const MAX_EXAMPLES = 16_384;
const MAX_OF_ONE = 4_096;
const MAX_PER_ROUTE = 64;
const BATCH = 128;
/** Principals whose use counts for a query: the most recent ones. */
const MOST_HEARD = 64;

/** The examples of one principal in one scope. */
interface Lessons extends Learner {
  readonly memory: ExampleMemory;
  readonly model: ChoiceModel;
}

/** Past queries that led to entries, by scope and principal. */
export function createExampleStore(embedder: Embedder) {
  const lessons = new Map<string, Lessons>();
  let size = 0;
  let waiting: ExampleChange[] = [];
  let settling: Promise<void> = Promise.resolve();

  function lessonsOf(learner: Learner): Lessons {
    const key = keyOf(learner);
    const existing = lessons.get(key) ?? {
      ...learner,
      memory: new ExampleMemory(),
      model: new ChoiceModel(),
    };
    lessons.set(key, existing);
    return existing;
  }

  function settle(): Promise<void> {
    settling = settling.then(async () => {
      while (waiting.length > 0) {
        const batch = waiting.slice(0, BATCH);
        waiting = waiting.slice(BATCH);
        const texts = batch.map((change) => (change.kind === "add" ? change.query : ""));
        const vectors = await embedAll(embedder, texts);
        for (const [at, change] of batch.entries()) apply(change, vectors[at]);
        await setImmediate();
      }
    });
    return settling;
  }

  function apply(change: ExampleChange, vector: Float32Array | undefined): void {
    const ofLearner = lessonsOf(change.learner);
    const { memory } = ofLearner;
    if (change.kind === "weigh") {
      const example = memory.get(change.id);
      if (example) example.weight = change.weight;
      return;
    }
    const { kind: _, learner: __, query, found, ...rest } = change;
    const example: LearnedExample = { ...rest, terms: termsOf(query), vector };
    if (example.weight > 0) learnFrom(example, found, ofLearner);
    memory.add(example);
    size += 1;
    forgetOldest(example, memory);
  }

  function forgetOldest({ route }: LearnedExample, memory: ExampleMemory): void {
    const ofRoute = memory.of(route);
    if (ofRoute.size > MAX_PER_ROUTE) remove(memory, ofRoute.values().next().value!);
    if (memory.size > MAX_OF_ONE) remove(memory, memory.oldest!);
    if (size <= MAX_EXAMPLES) return;
    // Removes from the principal with the most examples, so that it does not displace those of others.
    const memories = [...lessons.values()].map((one) => one.memory);
    const largest = memories.reduce((most, one) => (one.size > most.size ? one : most));
    remove(largest, largest.oldest!);
  }

  function remove(memory: ExampleMemory, example: LearnedExample): void {
    memory.remove(example);
    size -= 1;
  }

  /** The entries that principals used for similar queries, each with the number of principals (not of calls). */
  function usersByEntry(
    { scope, principal }: Learner,
    terms: readonly string[],
    vector: Float32Array | undefined,
  ) {
    const users = new Map<string, number>();
    const others = [...lessons.values()].filter((one) => one.scope === scope && one.principal !== principal);
    for (const { memory } of others.slice(-MOST_HEARD)) {
      const near = memory.nearest(terms, vector, USE.neighbours);
      const used = near.filter(({ example, likeness }) => example.weight > 0 && likeness >= USE.alike);
      for (const route of new Set(used.map(({ example }) => example.route)))
        users.set(route, (users.get(route) ?? 0) + 1);
    }
    return users;
  }

  return {
    change(change: ExampleChange): void {
      waiting.push(change);
      if (waiting.length === 1) void settle();
    },
    /** Reorders hits by past use for similar queries: the caller's own and, with `shared`, that of other principals. */
    async lift(
      { shared, ...learner }: Learner & { readonly shared: boolean },
      query: string,
      hits: readonly SearchHit[],
      now: number,
    ): Promise<readonly SearchHit[]> {
      await settle();
      const ownLessons = lessons.get(keyOf(learner));
      if (!ownLessons && !shared) return hits;
      const [vector] = await embedAll(embedder, [query]);
      const terms = termsOf(query);
      const heard = shared ? liftShared(hits, usersByEntry(learner, terms, vector)) : hits;
      if (!ownLessons) return heard;
      const neighbours = ownLessons.memory.nearest(terms, vector, USE.neighbours);
      return liftHits(heard, weighNeighbours(neighbours, now), ownLessons.model);
    },
  };
}

function keyOf({ scope, principal }: Learner): string {
  return JSON.stringify([scope, principal]);
}

/** Compares a use with the predictions of search and of earlier uses, and corrects the model. */
function learnFrom(
  example: LearnedExample,
  found: ReadonlyMap<string, number>,
  { memory, model }: Lessons,
): void {
  const { route, at } = example;
  const wasUsed = (other: string) => memory.knows(other);
  // The first use of an entry cannot be predicted from uses, so it says nothing about their value.
  if (!wasUsed(route)) return;
  const earlier = memory
    .nearest(example.terms, example.vector, 2 * USE.neighbours)
    .filter((neighbour) => neighbour.example.ask !== example.ask);
  const candidates = toCandidates([...found], weighNeighbours(earlier.slice(0, USE.neighbours), at));
  const chosen = candidates.get(route);
  if (!chosen) return;
  model.learn(
    chosen,
    [...candidates].filter(([id]) => wasUsed(id)).map(([, candidate]) => candidate),
  );
}

/** Vectors of the texts that the embedder can read. If it fails, only words count. */
export async function embedAll(
  embedder: Pick<Embedder, "embed" | "reads">,
  texts: readonly string[],
): Promise<readonly (Float32Array | undefined)[]> {
  try {
    const vectors = await embedder.embed(texts);
    return vectors.map((vector, at) => ((embedder.reads?.(texts[at]!) ?? true) ? vector : undefined));
  } catch {
    return texts.map(() => undefined);
  }
}
