import { analyzeQuery, cutQuery } from "../analysis/analyze-query.ts";
import type { SearchHit } from "../port/search-index.ts";
import { createStaticEmbedder } from "../vectors/static-embedder.ts";
import { ExampleMemory } from "./example-memory.ts";
import { addLifts } from "./lift-hits.ts";

/** An entry with phrases that its author expects in queries. */
export interface Phrased {
  readonly route: string;
  readonly phrases: readonly string[];
}

/** A query less like a phrase than this is about something else. */
const UNLIKE = 0.5;
const NEIGHBOURS = 16;
const MAX_PHRASES = 50_000;

const memories = new WeakMap<readonly Phrased[], Promise<ExampleMemory>>();
const embedder = createStaticEmbedder();

/**
 * Raises entries by the one phrase of theirs that is most like the query: as far as it is, whatever other
 * phrases they have. Entries without phrases keep their place unless a phrase nearly is the query.
 */
export async function liftByPhrases(
  query: string,
  hits: readonly SearchHit[],
  entries: readonly Phrased[],
): Promise<readonly SearchHit[]> {
  const known = memories.get(entries) ?? remember(entries);
  memories.set(entries, known);
  const memory = await known;
  if (memory.size === 0) return hits;
  const asked = cutQuery(query);
  const [vector] = await vectorsOf([asked]);
  const lifts = new Map<string, number>();
  for (const { example, likeness } of memory.nearest(termsOf(asked), vector, NEIGHBOURS)) {
    const lift = Math.max(0, (likeness - UNLIKE) / (1 - UNLIKE)) ** 2;
    if (lift > (lifts.get(example.route) ?? 0)) lifts.set(example.route, lift);
  }
  return addLifts(hits, lifts);
}

async function remember(entries: readonly Phrased[]): Promise<ExampleMemory> {
  const memory = new ExampleMemory();
  const phrases = entries
    .flatMap(({ route, phrases: own }) => own.map((phrase) => ({ route, phrase })))
    .slice(0, MAX_PHRASES);
  if (phrases.length === 0) return memory;
  const vectors = await vectorsOf(phrases.map(({ phrase }) => phrase));
  for (const [at, { route, phrase }] of phrases.entries()) {
    const unused = { at: 0, weight: 1, ask: "", shown: true, shortfall: 1, passedOver: [] };
    memory.add({ id: String(at), route, terms: termsOf(phrase), vector: vectors[at], ...unused });
  }
  return memory;
}

/** Without the table, phrases are compared by their words. */
async function vectorsOf(texts: readonly string[]): Promise<readonly (Float32Array | undefined)[]> {
  try {
    return await embedder.embed(texts);
  } catch {
    return texts.map(() => undefined);
  }
}

function termsOf(text: string): string[] {
  return [...analyzeQuery(cutQuery(text)).terms.keys()];
}
