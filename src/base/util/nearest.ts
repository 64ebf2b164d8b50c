import { splitWords } from "./split-words.ts";

const MAX_LENGTH = 128;
const SEPARATORS = /[^\p{L}\p{N}\p{M}]+/gu;
/** Names this much farther away than the best one are noise. */
const SPREAD = 1.5;

/** Finds the names most like `name`, best first, ties alphabetically. Empty if none is reasonably near. */
export function nearest(name: string, candidates: Iterable<string>, limit = 3): string[] {
  const target = { ...toForm(name), words: wordsOf(name) };
  if (limit < 1 || target.joined === "") return [];
  const near: { candidate: string; cost: number }[] = [];
  for (const candidate of new Set(candidates)) {
    const cost = candidate === name ? -0.5 : costBetween(target, toForm(candidate));
    if (cost !== undefined) near.push({ candidate, cost });
  }
  near.sort((a, b) => a.cost - b.cost || (a.candidate < b.candidate ? -1 : 1));
  const worst = (near[0]?.cost ?? 0) + SPREAD;
  return near
    .filter(({ cost }) => cost <= worst)
    .slice(0, limit)
    .map(({ candidate }) => candidate);
}

interface Form {
  readonly name: string;
  readonly joined: string;
}

interface WantedName extends Form {
  readonly words: ReadonlySet<string>;
}

/** Caches recently used values, in two halves. A large `LRUCache` takes megabytes before its first value. */
export class RecentMap<Key, Value> {
  #recent = new Map<Key, Value>();
  #older = new Map<Key, Value>();
  readonly #half: number;

  constructor(max: number) {
    this.#half = Math.ceil(max / 2);
  }

  get(key: Key): Value | undefined {
    const recent = this.#recent.get(key);
    if (recent !== undefined) return recent;
    const older = this.#older.get(key);
    if (older !== undefined) this.set(key, older);
    return older;
  }

  set(key: Key, value: Value): void {
    if (this.#recent.size >= this.#half && !this.#recent.has(key)) {
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(key, value);
  }
}

/** Cached: the same names are compared repeatedly. */
const forms = new RecentMap<string, Form>(50_000);

function toForm(whole: string): Form {
  const name = whole.slice(0, MAX_LENGTH);
  const cached = forms.get(name);
  if (cached) return cached;
  const lowered = name.toLowerCase();
  const form = { name, joined: lowered.replace(SEPARATORS, "") || lowered.trim() };
  forms.set(name, form);
  return form;
}

/** The distance between two names. Undefined if they are too different for a suggestion. */
function costBetween(wanted: WantedName, candidate: Form): number | undefined {
  if (candidate.joined === "") return undefined;
  if (wanted.joined === candidate.joined) return 0;
  const cost = Math.min(
    typoCost(wanted.joined, candidate.joined) ?? Number.POSITIVE_INFINITY,
    wordCost(wanted, candidate) ?? Number.POSITIVE_INFINITY,
    partCost(wanted.joined, candidate.joined) ?? Number.POSITIVE_INFINITY,
  );
  return Number.isFinite(cost) ? cost : undefined;
}

function typoCost(a: string, b: string): number | undefined {
  const length = Math.max(a.length, b.length);
  const allowed = length < 3 ? 0 : length < 6 ? 1 : length < 10 ? 2 : 3;
  return boundedDistance(a, b, allowed);
}

/** Compares words: the same words in another order, or all words of one name within the other. */
function wordCost(wanted: WantedName, candidate: Form): number | undefined {
  if (wanted.joined.length < 2 || candidate.joined.length < 2) return undefined;
  // Splitting into words is slow, so names that cannot share all words are excluded first.
  const mayBeWithin = wanted.joined.includes(candidate.joined.slice(0, 2));
  if (!mayBeWithin && !wanted.words.values().every((word) => candidate.joined.includes(word)))
    return undefined;
  const words = wordsOf(candidate.name);
  const [few, many] = words.size <= wanted.words.size ? [words, wanted.words] : [wanted.words, words];
  if (few.size === 0 || !few.isSubsetOf(many)) return undefined;
  return few.size === many.size ? 0.5 : 2 + (many.size - few.size) / (many.size + 1);
}

function wordsOf(name: string): Set<string> {
  return new Set(splitWords(name.slice(0, MAX_LENGTH)).map(singular));
}

function singular(word: string): string {
  return word.length > 3 && word.endsWith("s") ? word.slice(0, -1) : word;
}

function partCost(a: string, b: string): number | undefined {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  const share = short.length / long.length;
  if (short.length >= 3 && long.startsWith(short)) return 3 - share;
  if (short.length >= 4 && share >= 0.4 && long.includes(short)) return 4 - share;
  return undefined;
}

/**
 * The edit distance of two strings (insert, delete, replace, swap neighbours). Undefined beyond `limit`. Computes only
 * the band of the table within the limit.
 */
export function boundedDistance(a: string, b: string, limit: number): number | undefined {
  if (a === b) return 0;
  if (limit < 1 || Math.abs(a.length - b.length) > limit) return undefined;
  const over = limit + 1;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => Math.min(column, over));
  for (let row = 1; row <= a.length; row += 1) {
    const current = new Array<number>(b.length + 1).fill(over);
    if (row <= limit) current[0] = row;
    let best = current[0]!;
    const end = Math.min(b.length, row + limit);
    for (let column = Math.max(1, row - limit); column <= end; column += 1) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(last[column]! + 1, current[column - 1]! + 1, last[column - 1]! + (same ? 0 : 1));
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        cost = Math.min(cost, beforeLast[column - 2]! + 1);
      }
      current[column] = Math.min(cost, over);
      best = Math.min(best, cost);
    }
    if (best > limit) return undefined;
    beforeLast = last;
    last = current;
  }
  const distance = last[b.length]!;
  return distance > limit ? undefined : distance;
}
