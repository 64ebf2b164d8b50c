import { setImmediate } from "node:timers/promises";
import type { SearchHit } from "../port/search-index.ts";
import type { Embedder } from "../vectors/embedder.ts";
import { ChoiceModel } from "./choice-model.ts";
import { weighNeighbours } from "./evidence.ts";
import { type Example, ExampleMemory } from "./example-memory.ts";
import { FIRST, leadOver, liftHits, toCandidates } from "./lift-hits.ts";
import { RivalBar } from "./rival-bar.ts";

/** A change to the examples of a scope. The same changes in the same order give the same examples. */
export type ExampleChange =
  | ({
      readonly kind: "add";
      readonly scope: string;
      readonly query: string;
      /** Search's own order for the query: each entry with its share of the best score. */
      readonly found: ReadonlyMap<string, number>;
    } & Omit<Example, "terms" | "vector">)
  | { readonly kind: "weigh"; readonly scope: string; readonly id: string; readonly weight: number };

/** Past queries that led to entries, by scope. */
export interface ExampleStore {
  change(change: ExampleChange): void;
  /** Ranks hits again by what past use says of like queries. */
  lift(scope: string, query: string, hits: readonly SearchHit[], now: number): Promise<readonly SearchHit[]>;
}

const NEIGHBOURS = 16;
const MAX_EXAMPLES = 16_384;
const MAX_PER_SCOPE = 4_096;
const MAX_PER_ROUTE = 64;
const BATCH = 128;

interface Scope {
  readonly memory: ExampleMemory;
  readonly model: ChoiceModel;
  readonly bar: RivalBar;
}

export function createExampleStore(
  termsOf: (query: string) => readonly string[],
  embedder: Embedder,
): ExampleStore {
  const scopes = new Map<string, Scope>();
  /** In the order in which they came, over all scopes. */
  const examples = new Map<Example, ExampleMemory>();
  let waiting: ExampleChange[] = [];
  let settling: Promise<void> = Promise.resolve();

  function scopeOf(name: string): Scope {
    const known = scopes.get(name);
    if (known) return known;
    const made = { memory: new ExampleMemory(), model: new ChoiceModel(), bar: new RivalBar() };
    scopes.set(name, made);
    return made;
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
    const example: Example = { ...rest, terms: [...new Set(termsOf(query))], vector };
    if (example.weight > 0) learnFrom(example, found, scope);
    memory.add(example);
    examples.set(example, memory);
    forgetOldest(example, memory);
  }

  function forgetOldest({ route }: Example, memory: ExampleMemory): void {
    const ofRoute = memory.of(route);
    if (ofRoute.size > MAX_PER_ROUTE) remove(ofRoute.values().next().value!);
    if (memory.size > MAX_PER_SCOPE) remove(memory.oldest!);
    if (examples.size > MAX_EXAMPLES) remove(examples.keys().next().value!);
  }

  function remove(example: Example): void {
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
      const { memory, model, bar } = known;
      const [vector] = await embedAll(embedder, [query]);
      const neighbours = memory.nearest([...new Set(termsOf(query))], vector, NEIGHBOURS);
      const usesOf = (route: string) => memory.of(route).size;
      return liftHits(hits, weighNeighbours(neighbours, now), { model, bar: bar.value, usesOf });
    },
  };
}

/** Compares a use with what search and the uses before it would have said, and corrects what is trusted. */
function learnFrom(
  example: Example,
  found: ReadonlyMap<string, number>,
  { memory, model, bar }: Scope,
): void {
  if (memory.size === 0) return;
  const { route, at } = example;
  const wasUsed = (other: string) => memory.knows(other);
  const earlier = memory
    .nearest(example.terms, example.vector, 2 * NEIGHBOURS)
    .filter((neighbour) => neighbour.example.ask !== example.ask);
  const first = [...found].slice(0, FIRST);
  if (first.some(([id]) => id === route)) {
    const ofOthers = earlier.filter((neighbour) => neighbour.example.route !== route).slice(0, NEIGHBOURS);
    bar.observe(leadOver(route, toCandidates(first, weighNeighbours(ofOthers, at)), model, wasUsed));
  }
  // The first use of an entry cannot be foreseen from uses, so it says nothing about their worth.
  if (!wasUsed(route)) return;
  const candidates = toCandidates([...found], weighNeighbours(earlier.slice(0, NEIGHBOURS), at));
  const chosen = candidates.get(route);
  if (!chosen) return;
  model.learn(
    chosen,
    [...candidates].filter(([id]) => wasUsed(id)).map(([, candidate]) => candidate),
  );
}

/** Vectors of the texts that the embedder reads. Where it fails, words alone decide. */
async function embedAll(
  embedder: Embedder,
  texts: readonly string[],
): Promise<readonly (Float32Array | undefined)[]> {
  try {
    const vectors = await embedder.embed(texts);
    return vectors.map((vector, at) => ((embedder.reads?.(texts[at]!) ?? true) ? vector : undefined));
  } catch {
    return texts.map(() => undefined);
  }
}
