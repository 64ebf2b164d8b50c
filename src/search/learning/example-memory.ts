import { createVectorStore, type VectorStore } from "../vectors/vector-store.ts";

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

/** A term in more examples than this tells little and would cost much. */
const COMMON = 256;
const LOOKED_UP = 6;

/** Examples that can be found by their likeness to a query, by words and by vectors. */
export class ExampleMemory {
  private readonly examples = new Map<string, Example>();
  private readonly byTerm = new Map<string, Set<Example>>();
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
    for (const term of example.terms) addTo(this.byTerm, term, example);
    addTo(this.byRoute, example.route, example);
    if (example.vector === undefined) return;
    this.vectors ??= createVectorStore(example.vector.length);
    this.vectors.put(example.id, example.vector);
  }

  remove(example: Example): void {
    this.examples.delete(example.id);
    for (const term of example.terms) removeFrom(this.byTerm, term, example);
    removeFrom(this.byRoute, example.route, example);
    this.vectors?.remove(example.id);
  }

  /** The examples most like a query, best first. A likeness is the greater of that by words and by vectors. */
  nearest(terms: readonly string[], vector: Float32Array | undefined, limit: number): Neighbour[] {
    const likeness = new Map<Example, number>();
    for (const { id, score } of (vector && this.vectors?.search(vector, limit)) ?? []) {
      if (score > 0) likeness.set(this.examples.get(id)!, score);
    }
    for (const example of this.sharing(terms)) {
      const byWords = this.likenessByWords(terms, example);
      if (byWords > (likeness.get(example) ?? 0)) likeness.set(example, byWords);
    }
    return Array.from(likeness, ([example, value]): Neighbour => ({ example, likeness: value }))
      .sort((one, other) => other.likeness - one.likeness || (one.example.id < other.example.id ? -1 : 1))
      .slice(0, limit);
  }

  /** The smaller of the likenesses by words and by vectors: texts that are nearly the same are so in both ways. */
  leastLikeness(terms: readonly string[], vector: Float32Array | undefined, example: Example): number {
    const byWords = this.likenessByWords(terms, example);
    const other = example.vector;
    if (vector === undefined || other === undefined) return byWords;
    return Math.min(
      byWords,
      vector.reduce((sum, value, at) => sum + value * other[at]!, 0),
    );
  }

  private sharing(terms: readonly string[]): Set<Example> {
    const lists = terms
      .map((term) => this.byTerm.get(term))
      .filter((list) => list !== undefined && list.size <= COMMON)
      .sort((one, other) => one!.size - other!.size)
      .slice(0, LOOKED_UP);
    return new Set(lists.flatMap((list) => [...list!]));
  }

  /** The cosine of the two texts' words, each as heavy as it is rare among the examples. */
  private likenessByWords(terms: readonly string[], { terms: others }: Example): number {
    const known = new Set(others);
    let common = 0;
    let own = 0;
    for (const term of terms) {
      const worth = this.rarity(term) ** 2;
      own += worth;
      if (known.has(term)) common += worth;
    }
    const other = others.reduce((sum, term) => sum + this.rarity(term) ** 2, 0);
    return common === 0 ? 0 : common / Math.sqrt(own * other);
  }

  /** A word that no example has is mostly a value, and counts no more than one that half of them have. */
  private rarity(term: string): number {
    const frequency = this.byTerm.get(term)?.size ?? this.examples.size / 2;
    return Math.log(1 + this.examples.size / (frequency + 0.5));
  }
}

function addTo(lists: Map<string, Set<Example>>, key: string, example: Example): void {
  const list = lists.get(key);
  if (list) list.add(example);
  else lists.set(key, new Set([example]));
}

function removeFrom(lists: Map<string, Set<Example>>, key: string, example: Example): void {
  const list = lists.get(key);
  list?.delete(example);
  if (list?.size === 0) lists.delete(key);
}
