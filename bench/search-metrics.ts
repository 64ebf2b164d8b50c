import type { Question } from "./search-sets.ts";

export interface Metrics {
  "R@1": number;
  "R@5": number;
  "R@10": number;
  "nDCG@10": number;
  MRR: number;
  "All@10": number;
}

/** Averages over the questions. `answers[i]` has the ids for `questions[i]`, best first. */
export function measure(questions: readonly Question[], answers: readonly (readonly string[])[]): Metrics {
  const sum: Metrics = { "R@1": 0, "R@5": 0, "R@10": 0, "nDCG@10": 0, MRR: 0, "All@10": 0 };
  questions.forEach(({ gold, groups }, at) => {
    const ids = answers[at]!;
    const recall = (depth: number): number => recallOf(groups, ids.slice(0, depth));
    sum["R@1"] += recall(1);
    sum["R@5"] += recall(5);
    sum["R@10"] += recall(10);
    if (recall(10) === 1) sum["All@10"] += 1;
    const wanted = new Set(gold);
    const places = ids.slice(0, 10).flatMap((id, place) => (wanted.has(id) ? [place] : []));
    sum["nDCG@10"] += gainOf(places) / gainOf([...Array(Math.min(10, wanted.size)).keys()]);
    if (places.length > 0) sum.MRR += 1 / (places[0]! + 1);
  });
  for (const key of Object.keys(sum) as (keyof Metrics)[]) sum[key] /= questions.length;
  return sum;
}

/** Share of the needs that one of the ids meets. */
export function recallOf(groups: readonly (readonly string[])[], ids: readonly string[]): number {
  const found = new Set(ids);
  return groups.filter((group) => group.some((id) => found.has(id))).length / groups.length;
}

function gainOf(places: readonly number[]): number {
  return places.reduce((sum, place) => sum + 1 / Math.log2(place + 2), 0);
}
