import { setImmediate } from "node:timers/promises";
import type { SearchHit } from "../port/search-index.ts";
import type { Embedder } from "../vectors/embedder.ts";
import { type Example, ExampleMemory, type Neighbour } from "./example-memory.ts";
import { countVotes, liftHits } from "./lift-hits.ts";
import { Reliability } from "./reliability.ts";

/** A change to the examples of a scope. The same changes in the same order give the same examples. */
export type ExampleChange =
  | ({ readonly kind: "add"; readonly scope: string; readonly query: string } & Omit<
      Example,
      "terms" | "vector"
    >)
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
  readonly reliability: Reliability;
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
    const made = { memory: new ExampleMemory(), reliability: new Reliability() };
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
    const { memory, reliability } = scopeOf(change.scope);
    if (change.kind === "weigh") {
      const example = memory.get(change.id);
      if (example) example.weight = change.weight;
      return;
    }
    const { kind: _, scope: __, query, ...rest } = change;
    const example: Example = { ...rest, terms: [...new Set(termsOf(query))], vector };
    if (example.weight > 0) predict(example, memory, reliability);
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
      const { memory, reliability } = known;
      const [vector] = await embedAll(embedder, [query]);
      const neighbours = memory.nearest([...new Set(termsOf(query))], vector, NEIGHBOURS);
      return liftHits(
        hits,
        countVotes(neighbours, now),
        (certainty) => reliability.trust(certainty),
        (route) => memory.knows(route),
      );
    },
  };
}

/** Compares a use with what the uses before it would have said. */
function predict(example: Example, memory: ExampleMemory, reliability: Reliability): void {
  const neighbours = memory
    .nearest(example.terms, example.vector, NEIGHBOURS)
    .filter((neighbour: Neighbour) => neighbour.example.ask !== example.ask);
  const { votes } = countVotes(neighbours, example.at);
  let surest: { readonly route: string; readonly certainty: number } | undefined;
  for (const [route, { certainty }] of votes) {
    if (certainty > (surest?.certainty ?? 0)) surest = { route, certainty };
  }
  if (surest) reliability.observe(surest.certainty, surest.route === example.route, example.shortfall === 0);
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
