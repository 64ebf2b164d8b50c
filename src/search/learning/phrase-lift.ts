import { setImmediate } from "node:timers/promises";
import { memoizeByObject } from "../../base/util/memoize-by-object.ts";
import { cutQuery, termsOf } from "../analysis/analyze-query.ts";
import type { SearchHit } from "../port/search-index.ts";
import { PHRASES } from "../ranking/tuning.ts";
import { createStaticEmbedder } from "../vectors/static-embedder.ts";
import { ExampleMemory, type Neighbour } from "./example-memory.ts";
import { embedAll } from "./example-store.ts";
import { liftInOrder } from "./lift-hits.ts";

/** An entry with phrases that its author expects in queries. */
export interface Phrased {
  readonly route: string;
  readonly phrases: readonly string[];
}

const MAX_PHRASES = 50_000;

interface Memory {
  readonly examples: ExampleMemory;
  /** From this similarity on, a phrase means that its entry is wanted. */
  readonly same: number;
  /** How often the nearest other phrase belongs to the same entry, 0 to 1. */
  readonly agreement: number;
}

/** Compares texts of every language, even if the embedder does not know it. */
const comparer = { embed: createStaticEmbedder().embed };

/**
 * Raises entries by their phrase that is most similar to the query, whatever their other phrases. Entries without
 * phrases keep their position among the first hits; only an entry whose phrase is nearly the query may pass them.
 */
export async function liftByPhrases(
  query: string,
  hits: readonly SearchHit[],
  entries: readonly Phrased[],
): Promise<readonly SearchHit[]> {
  const { examples, same, agreement } = await memoryOf(entries);
  if (examples.size === 0) return hits;
  const asked = cutQuery(query);
  const [vector] = await embedAll(comparer, [asked]);
  const terms = termsOf(asked);
  const neighbours = examples.nearest(terms, vector, PHRASES.neighbours);
  const likenesses = new Map<string, number>();
  for (const { example, likeness } of neighbours) {
    if (likeness > (likenesses.get(example.route) ?? PHRASES.unlike)) likenesses.set(example.route, likeness);
  }
  if (likenesses.size === 0) return hits;
  const [{ example: nearest }] = neighbours as [Neighbour];
  const isMeant = examples.leastLikeness(terms, vector, nearest) >= same;
  const best = hits[0]?.score || 1;
  const values = new Map(hits.map(({ id, score }) => [id, score / best]));
  // A query nearly equal to a phrase is of the kind that authors had in mind.
  const trust = isMeant ? 1 : agreement;
  for (const [route, likeness] of likenesses)
    values.set(
      route,
      (values.get(route) ?? 0) + trust * ((likeness - PHRASES.unlike) / (1 - PHRASES.unlike)) ** 2,
    );
  const order = inOrder(hits, values, (route) => examples.knows(route));
  return liftInOrder(hits, values, isMeant ? withMeant(nearest.route, order, values) : order);
}

/**
 * Entries by value, best first. Among the first hits, entries without phrases stay above those that search ranks lower.
 * If a phrased entry above them is passed too, they lose at most one position.
 */
function inOrder(
  hits: readonly SearchHit[],
  values: ReadonlyMap<string, number>,
  hasPhrases: (route: string) => boolean,
): readonly string[] {
  const ranks = new Map(values);
  const unphrased: { readonly id: string; readonly place: number }[] = [];
  let lowest = Number.POSITIVE_INFINITY;
  for (const [place, { id }] of hits.slice(0, PHRASES.first).entries()) {
    if (!hasPhrases(id)) {
      ranks.set(id, lowest);
      unphrased.push({ id, place });
    }
    lowest = Math.min(lowest, ranks.get(id)!);
  }
  // Infinite ranks have no difference to sort by.
  const ranked = [...ranks].sort(([, one], [, other]) => Number(one < other) - Number(one > other));
  const order = new Set<string>();
  for (const [id] of ranked) {
    for (const due of unphrased) if (due.place < order.size) order.add(due.id);
    order.add(id);
  }
  return [...order];
}

/** The order with the wanted entry at the position of its value. */
function withMeant(
  meant: string,
  order: readonly string[],
  values: ReadonlyMap<string, number>,
): readonly string[] {
  const others = order.filter((id) => id !== meant);
  const place = others.findIndex((id) => values.get(id)! <= values.get(meant)!);
  return others.toSpliced(place < 0 ? others.length : place, 0, meant);
}

const memoryOf = memoizeByObject(async (entries: readonly Phrased[]): Promise<Memory> => {
  const examples = new ExampleMemory();
  const phrases = entries
    .flatMap(({ route, phrases: own }) => own.map((phrase) => ({ route, phrase })))
    .slice(0, MAX_PHRASES);
  if (phrases.length === 0) return { examples, same: PHRASES.same, agreement: 1 };
  const vectors = await embedAll(
    comparer,
    phrases.map(({ phrase }) => phrase),
  );
  for (const [at, { route, phrase }] of phrases.entries()) {
    const unused = { at: 0, weight: 1, ask: "", shown: true, shortfall: 1 };
    examples.add({ id: String(at), route, terms: termsOf(phrase), vector: vectors[at], ...unused });
  }
  return { examples, ...(await comparePhrases(examples, phrases.length)) };
});

/**
 * Compares phrases with each other. A query for an entry without phrases is as similar to other phrases as those are to
 * each other, so `same` is a similarity that phrases of different entries rarely have. If phrases are more similar to
 * those of other entries than to their own, a similar phrase says little (`agreement`).
 */
async function comparePhrases(
  examples: ExampleMemory,
  count: number,
): Promise<Pick<Memory, "same" | "agreement">> {
  const step = Math.ceil(count / PHRASES.compared);
  const highest: number[] = [];
  let compared = 0;
  let agreed = 0;
  for (let at = 0; at < count; at += step) {
    const { route, terms, vector } = examples.get(String(at))!;
    const text = terms.join(" ");
    const others = examples
      .nearest(terms, vector, PHRASES.maxShared)
      // Entries may share a phrase, which says nothing about the similarity of different ones.
      .filter(({ example }) => example.terms.join(" ") !== text);
    const foreign = others.find(({ example }) => example.route !== route);
    highest.push(foreign ? examples.leastLikeness(terms, vector, foreign.example) : 0);
    if (examples.of(route).size > 1 && (others[0]?.likeness ?? 0) > PHRASES.unlike) {
      compared++;
      if (others[0] !== foreign) agreed++;
    }
    if (highest.length % PHRASES.neighbours === 0) await setImmediate();
  }
  const allowed = Math.floor(PHRASES.errorShare * (highest.length + 1));
  const bar = highest.toSorted((one, other) => other - one)[Math.max(0, allowed - 1)]!;
  // Plus one that agrees: a few phrases alone must not count against all.
  return {
    same: allowed === 0 ? Math.max(PHRASES.same, bar) : bar,
    agreement: (agreed + 1) / (compared + 1),
  };
}
