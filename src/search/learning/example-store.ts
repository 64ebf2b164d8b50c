import { setImmediate } from "node:timers/promises";
import type { SearchHit } from "../port/search-index.ts";
import { USE } from "../ranking/tuning.ts";
import type { Embedder } from "../vectors/embedder.ts";
import { ExampleMemory, type LearnedExample } from "./example-memory.ts";
import { ChoiceModel, liftHits, toCandidates, weighNeighbours } from "./lift-hits.ts";

/** A change to the examples of a scope. The same changes in the same order give the same examples. */
export type ExampleChange =
  | ({
      readonly kind: "add";
      readonly scope: string;
      readonly query: string;
      /** Search's own order for the query: each entry with its share of the best score. */
      readonly found: ReadonlyMap<string, number>;
    } & Omit<LearnedExample, "terms" | "vector">)
  | { readonly kind: "weigh"; readonly scope: string; readonly id: string; readonly weight: number };

/** Past queries that led to entries, by scope. */
export interface ExampleStore {
  change(change: ExampleChange): void;
  /** Ranks hits again by what past use says of like queries. */
  lift(scope: string, query: string, hits: readonly SearchHit[], now: number): Promise<readonly SearchHit[]>;
}

const MAX_EXAMPLES = 16_384;
const MAX_PER_SCOPE = 4_096;
const MAX_PER_ROUTE = 64;
const BATCH = 128;

interface Scope {
  readonly memory: ExampleMemory;
  readonly model: ChoiceModel;
}

export function createExampleStore(
  termsOf: (query: string) => readonly string[],
  embedder: Embedder,
): ExampleStore {
  const scopes = new Map<string, Scope>();
  /** In the order in which they came, over all scopes. */
  const examples = new Map<LearnedExample, ExampleMemory>();
  let waiting: ExampleChange[] = [];
  let settling: Promise<void> = Promise.resolve();

  function scopeOf(name: string): Scope {
    const scope = scopes.get(name) ?? { memory: new ExampleMemory(), model: new ChoiceModel() };
    scopes.set(name, scope);
    return scope;
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
    const scope = scopeOf(change.scope);
    const { memory } = scope;
    if (change.kind === "weigh") {
      const example = memory.get(change.id);
      if (example) example.weight = change.weight;
      return;
    }
    const { kind: _, scope: __, query, found, ...rest } = change;
    const example: LearnedExample = { ...rest, terms: [...new Set(termsOf(query))], vector };
    if (example.weight > 0) learnFrom(example, found, scope);
    memory.add(example);
    examples.set(example, memory);
    forgetOldest(example, memory);
  }

  function forgetOldest({ route }: LearnedExample, memory: ExampleMemory): void {
    const ofRoute = memory.of(route);
    if (ofRoute.size > MAX_PER_ROUTE) remove(ofRoute.values().next().value!);
    if (memory.size > MAX_PER_SCOPE) remove(memory.oldest!);
    if (examples.size > MAX_EXAMPLES) remove(examples.keys().next().value!);
  }

  function remove(example: LearnedExample): void {
    examples.get(example)?.remove(example);
    examples.delete(example);
  }

  return {
    change(change) {
      waiting.push(change);
      if (waiting.length === 1) void settle();
    },
    async lift(scope, query, hits, now) {
      await settle();
      const known = scopes.get(scope);
      if (!known || known.memory.size === 0) return hits;
      const { memory, model } = known;
      const [vector] = await embedAll(embedder, [query]);
      const neighbours = memory.nearest([...new Set(termsOf(query))], vector, USE.neighbours);
      return liftHits(hits, weighNeighbours(neighbours, now), model);
    },
  };
}

/** Compares a use with what search and the uses before it would have said, and corrects what is trusted. */
function learnFrom(
  example: LearnedExample,
  found: ReadonlyMap<string, number>,
  { memory, model }: Scope,
): void {
  const { route, at } = example;
  const wasUsed = (other: string) => memory.knows(other);
  // The first use of an entry cannot be foreseen from uses, so it says nothing about their worth.
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

/** Vectors of the texts that the embedder reads. Where it fails, words alone decide. */
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
