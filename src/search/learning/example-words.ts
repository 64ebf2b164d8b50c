/** A term in more examples than this tells little and would cost much. */
const COMMON = 256;
const LOOKED_UP = 6;
/** Sums of the same worths differ in their last bits. */
const ROUNDING = 1e-9;

interface Text {
  readonly terms: readonly string[];
}

/** A word of examples. */
interface Word<Example> {
  readonly examples: Set<Example>;
  worth: number;
  /** The state of the examples that `worth` is for. */
  state: number;
}

/** The likeness of texts by their words: the cosine, with each word as heavy as it is rare among the examples. */
export class ExampleWords<Example extends Text> {
  private readonly byTerm = new Map<string, Word<Example>>();
  private readonly byExample = new Map<Example, readonly Word<Example>[]>();
  /** Changes with the examples, since the worth of each word does. */
  private state = 0;

  add(example: Example): void {
    const words = example.terms.map((term) => this.byTerm.get(term) ?? this.newWord(term));
    for (const word of words) word.examples.add(example);
    this.byExample.set(example, words);
    this.state++;
  }

  remove(example: Example): void {
    for (const term of example.terms) {
      const word = this.byTerm.get(term);
      word?.examples.delete(example);
      if (word?.examples.size === 0) this.byTerm.delete(term);
    }
    this.byExample.delete(example);
    this.state++;
  }

  likeness(terms: readonly string[], example: Example): number {
    const words = this.wordsOf(terms);
    const others = this.byExample.get(example) ?? [];
    let common = 0;
    for (const word of words) if (others.includes(word)) common += this.worthOf(word);
    return this.cosine(common, this.worthOfAll(terms, words), others);
  }

  /** Examples that share rare words with a query, with their likeness. Leaves out some that are less like it than `least`. */
  *sharing(terms: readonly string[], least: number): Generator<[Example, number]> {
    const words = this.wordsOf(terms);
    const own = this.worthOfAll(terms, words);
    const rare = words
      .filter((word) => word.examples.size <= COMMON)
      .sort((one, other) => one.examples.size - other.examples.size)
      .slice(0, LOOKED_UP);
    const rest = words.filter((word) => !rare.includes(word));
    const restWorth = rest.reduce((sum, word) => sum + this.worthOf(word), 0);
    const shared = new Map<Example, number>();
    for (const word of rare) {
      const worth = this.worthOf(word);
      for (const example of word.examples) shared.set(example, (shared.get(example) ?? 0) + worth);
    }
    for (const [example, worth] of shared) {
      // An example's own words are worth no less than those that it shares.
      if (Math.sqrt((worth + restWorth) / own) + ROUNDING < least) continue;
      const others = this.byExample.get(example)!;
      let common = worth;
      for (const word of rest) if (others.includes(word)) common += this.worthOf(word);
      yield [example, this.cosine(common, own, others)];
    }
  }

  private newWord(term: string): Word<Example> {
    const word = { examples: new Set<Example>(), worth: 0, state: -1 };
    this.byTerm.set(term, word);
    return word;
  }

  private wordsOf(terms: readonly string[]): Word<Example>[] {
    return terms.flatMap((term) => this.byTerm.get(term) ?? []);
  }

  private cosine(common: number, own: number, others: readonly Word<Example>[]): number {
    if (common === 0) return 0;
    let other = 0;
    for (const word of others) other += this.worthOf(word);
    return common / Math.sqrt(own * other);
  }

  private worthOf(word: Word<Example>): number {
    if (word.state !== this.state) {
      word.worth = this.worthAt(word.examples.size);
      word.state = this.state;
    }
    return word.worth;
  }

  /** A word that no example has is mostly a value, and counts no more than one that half of them have. */
  private worthOfAll(terms: readonly string[], known: readonly Word<Example>[]): number {
    const unknown = (terms.length - known.length) * this.worthAt(this.byExample.size / 2);
    return known.reduce((sum, word) => sum + this.worthOf(word), unknown);
  }

  private worthAt(frequency: number): number {
    return Math.log(1 + this.byExample.size / (frequency + 0.5)) ** 2;
  }
}
