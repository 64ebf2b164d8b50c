import { dot } from "../vectors/embedder.ts";
import { createVectorStore, type VectorStore } from "../vectors/vector-store.ts";

/** A text that stands for an entry: a past query that led to it, or an author's phrase. */
export interface LearnedExample {
  readonly id: string;
  readonly route: string;
  readonly terms: readonly string[];
  /** Absent if no table can read the text. */
  readonly vector?: Float32Array | undefined;
  readonly at: number;
  /** Negative: evidence against the entry. */
  weight: number;
  /** Id of its ask; one ask may lead to several entries. */
  readonly ask: string;
  /** Whether the ask showed the entry. */
  readonly shown: boolean;
  /** How far below the best hit search ranked the entry: 0 is first, 1 is not found. */
  readonly shortfall: number;
}

export interface Neighbour {
  readonly example: LearnedExample;
  /** Similarity of the texts, 0 to 1. */
  readonly likeness: number;
}

/** Examples, searchable by similarity to a query, by words and by vectors. */
export class ExampleMemory {
  private readonly examples = new Map<string, LearnedExample>();
  private readonly words = new ExampleWords();
  private readonly byRoute = new Map<string, Set<LearnedExample>>();
  private vectors: VectorStore | undefined;

  get size(): number {
    return this.examples.size;
  }

  /** Whether an entry has an example, for or against it. */
  knows(route: string): boolean {
    return this.byRoute.has(route);
  }

  get(id: string): LearnedExample | undefined {
    return this.examples.get(id);
  }

  /** The examples of an entry, oldest first. */
  of(route: string): ReadonlySet<LearnedExample> {
    return this.byRoute.get(route) ?? new Set();
  }

  get oldest(): LearnedExample | undefined {
    return this.examples.values().next().value;
  }

  add(example: LearnedExample): void {
    this.examples.set(example.id, example);
    this.words.add(example);
    const ofRoute = this.byRoute.get(example.route);
    if (ofRoute) ofRoute.add(example);
    else this.byRoute.set(example.route, new Set([example]));
    if (example.vector === undefined) return;
    this.vectors ??= createVectorStore(example.vector.length);
    this.vectors.put(example.id, example.vector);
  }

  remove(example: LearnedExample): void {
    this.examples.delete(example.id);
    this.words.remove(example);
    const ofRoute = this.byRoute.get(example.route);
    ofRoute?.delete(example);
    if (ofRoute?.size === 0) this.byRoute.delete(example.route);
    this.vectors?.remove(example.id);
  }

  /** The examples most similar to a query, best first. Similarity is the larger of words and vectors. */
  nearest(terms: readonly string[], vector: Float32Array | undefined, limit: number): Neighbour[] {
    const likeness = new Map<LearnedExample, number>();
    const byVector = (vector && this.vectors?.search(vector, limit)) ?? [];
    for (const { id, score } of byVector) if (score > 0) likeness.set(this.examples.get(id)!, score);
    // At least `limit` examples are this similar to the query.
    const least = byVector.length < limit ? 0 : byVector.at(-1)!.score;
    for (const [example, byWords] of this.words.sharing(terms, least)) {
      if (byWords >= (likeness.get(example) ?? least)) likeness.set(example, byWords);
    }
    return Array.from(likeness, ([example, value]): Neighbour => ({ example, likeness: value }))
      .sort((one, other) => other.likeness - one.likeness || (one.example.id < other.example.id ? -1 : 1))
      .slice(0, limit);
  }

  /** The smaller similarity of words and vectors: nearly equal texts are similar in both. */
  leastLikeness(terms: readonly string[], vector: Float32Array | undefined, example: LearnedExample): number {
    const byWords = this.words.likeness(terms, example);
    if (vector === undefined || example.vector === undefined) return byWords;
    return Math.min(byWords, dot(vector, example.vector));
  }
}

/** A term in more examples than this says little and would cost much. */
const COMMON = 256;
const LOOKED_UP = 6;
/** Sums of the same weights in another order differ in the last bits. */
const ROUNDING = 1e-9;

/** The examples that contain a word. */
type WordUses = Set<LearnedExample>;

/** Similarity of texts by words: the cosine, with words weighted by their rarity among the examples. */
class ExampleWords {
  private readonly byTerm = new Map<string, WordUses>();
  private readonly byExample = new Map<LearnedExample, readonly WordUses[]>();

  add(example: LearnedExample): void {
    const words = example.terms.map((term) => {
      const word = this.byTerm.get(term) ?? new Set();
      this.byTerm.set(term, word.add(example));
      return word;
    });
    this.byExample.set(example, words);
  }

  remove(example: LearnedExample): void {
    for (const term of example.terms) {
      const word = this.byTerm.get(term);
      word?.delete(example);
      if (word?.size === 0) this.byTerm.delete(term);
    }
    this.byExample.delete(example);
  }

  likeness(terms: readonly string[], example: LearnedExample): number {
    const words = this.wordsOf(terms);
    const others = this.byExample.get(example) ?? [];
    const common = this.worthOf(words.filter((word) => others.includes(word)));
    return this.cosine(common, this.worthOfAll(terms, words), others);
  }

  /**
   * Examples that share rare words with a query, with their similarity. May omit examples less similar than `least`.
   */
  *sharing(terms: readonly string[], least: number): Generator<[LearnedExample, number]> {
    const words = this.wordsOf(terms);
    const whole = this.worthOfAll(terms, words);
    const rare = words
      .filter((word) => word.size <= COMMON)
      .sort((one, other) => one.size - other.size)
      .slice(0, LOOKED_UP);
    const common = words.filter((word) => !rare.includes(word));
    const commonWorth = this.worthOf(common);
    const shared = new Map<LearnedExample, number>();
    for (const word of rare) {
      const worth = this.worthAt(word.size);
      for (const example of word) shared.set(example, (shared.get(example) ?? 0) + worth);
    }
    for (const [example, worth] of shared) {
      // The words of an example weigh at least as much as the shared ones.
      if (Math.sqrt((worth + commonWorth) / whole) + ROUNDING < least) continue;
      const others = this.byExample.get(example)!;
      const sum = this.worthOf(
        common.filter((word) => others.includes(word)),
        worth,
      );
      yield [example, this.cosine(sum, whole, others)];
    }
  }

  private wordsOf(terms: readonly string[]): WordUses[] {
    return terms.flatMap((term) => this.byTerm.get(term) ?? []);
  }

  private cosine(common: number, whole: number, others: readonly WordUses[]): number {
    return common === 0 ? 0 : common / Math.sqrt(whole * this.worthOf(others));
  }

  /** A word in no example is usually a value: it weighs at most as much as one in half of them. */
  private worthOfAll(terms: readonly string[], uses: readonly WordUses[]): number {
    const unknown = (terms.length - uses.length) * this.worthAt(this.byExample.size / 2);
    return this.worthOf(uses, unknown);
  }

  private worthOf(words: readonly WordUses[], before = 0): number {
    return words.reduce((sum, word) => sum + this.worthAt(word.size), before);
  }

  private worthAt(frequency: number): number {
    return Math.log(1 + this.byExample.size / (frequency + 0.5)) ** 2;
  }
}
