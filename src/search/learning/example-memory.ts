import { createVectorStore, type VectorStore } from "../vectors/vector-store.ts";
import { ExampleWords } from "./example-words.ts";

/** A text that stands for an entry: a past query that led to it, or a phrase of its author. */
export interface Example {
  readonly id: string;
  readonly route: string;
  readonly terms: readonly string[];
  /** Absent where no table reads the text. */
  readonly vector?: Float32Array | undefined;
  readonly at: number;
  /** Below zero it speaks against the entry. */
  weight: number;
  /** The ask it came from; one ask may lead to several entries. */
  readonly ask: string;
  /** Whether the ask had shown the entry. */
  readonly shown: boolean;
  /** How far below the best hit search itself had ranked the entry: 0 is first, 1 is not found. */
  readonly shortfall: number;
  /** Entries that search had ranked above it. */
  readonly passedOver: readonly string[];
}

export interface Neighbour {
  readonly example: Example;
  /** Likeness of the texts, 0 to 1. */
  readonly likeness: number;
}

/** Examples that can be found by their likeness to a query, by words and by vectors. */
export class ExampleMemory {
  private readonly examples = new Map<string, Example>();
  private readonly words = new ExampleWords<Example>();
  private readonly byRoute = new Map<string, Set<Example>>();
  private vectors: VectorStore | undefined;

  get size(): number {
    return this.examples.size;
  }

  /** Whether an entry has an example, for or against it. */
  knows(route: string): boolean {
    return this.byRoute.has(route);
  }

  get(id: string): Example | undefined {
    return this.examples.get(id);
  }

  /** The examples of an entry, oldest first. */
  of(route: string): ReadonlySet<Example> {
    return this.byRoute.get(route) ?? new Set();
  }

  get oldest(): Example | undefined {
    return this.examples.values().next().value;
  }

  add(example: Example): void {
    this.examples.set(example.id, example);
    this.words.add(example);
    const ofRoute = this.byRoute.get(example.route);
    if (ofRoute) ofRoute.add(example);
    else this.byRoute.set(example.route, new Set([example]));
    if (example.vector === undefined) return;
    this.vectors ??= createVectorStore(example.vector.length);
    this.vectors.put(example.id, example.vector);
  }

  remove(example: Example): void {
    this.examples.delete(example.id);
    this.words.remove(example);
    const ofRoute = this.byRoute.get(example.route);
    ofRoute?.delete(example);
    if (ofRoute?.size === 0) this.byRoute.delete(example.route);
    this.vectors?.remove(example.id);
  }

  /** The examples most like a query, best first. A likeness is the greater of that by words and by vectors. */
  nearest(terms: readonly string[], vector: Float32Array | undefined, limit: number): Neighbour[] {
    const likeness = new Map<Example, number>();
    const byVector = (vector && this.vectors?.search(vector, limit)) ?? [];
    for (const { id, score } of byVector) if (score > 0) likeness.set(this.examples.get(id)!, score);
    // Enough examples are at least this like the query.
    const least = byVector.length < limit ? 0 : byVector.at(-1)!.score;
    for (const [example, byWords] of this.words.sharing(terms, least)) {
      if (byWords >= (likeness.get(example) ?? least)) likeness.set(example, byWords);
    }
    return Array.from(likeness, ([example, value]): Neighbour => ({ example, likeness: value }))
      .sort((one, other) => other.likeness - one.likeness || (one.example.id < other.example.id ? -1 : 1))
      .slice(0, limit);
  }

  /** The smaller of the likenesses by words and by vectors: texts that are nearly the same are so in both ways. */
  leastLikeness(terms: readonly string[], vector: Float32Array | undefined, example: Example): number {
    const byWords = this.words.likeness(terms, example);
    const other = example.vector;
    if (vector === undefined || other === undefined) return byWords;
    return Math.min(
      byWords,
      vector.reduce((sum, value, at) => sum + value * other[at]!, 0),
    );
  }
}
