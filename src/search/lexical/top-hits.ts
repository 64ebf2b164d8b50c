/** The best `limit` documents seen: higher score first, ties by lower id. A heap with the worst at its root. */
export class TopHits<T> {
  private readonly limit: number;
  private readonly before: (one: T, other: T) => boolean;
  private readonly scores: number[] = [];
  private readonly items: T[] = [];

  /** `before` decides ties: true where `one` is listed first. */
  constructor(limit: number, before: (one: T, other: T) => boolean) {
    this.limit = limit;
    this.before = before;
  }

  /** The score that a further document must reach; below it, none is let in. */
  get threshold(): number {
    return this.scores.length < this.limit ? Number.NEGATIVE_INFINITY : this.scores[0]!;
  }

  offer(score: number, item: T): void {
    const { scores, items, limit } = this;
    if (scores.length < limit) {
      scores.push(score);
      items.push(item);
      this.rise(scores.length - 1);
      return;
    }
    if (limit === 0 || score < scores[0]!) return;
    if (score === scores[0]! && !this.before(item, items[0]!)) return;
    scores[0] = score;
    items[0] = item;
    this.sink();
  }

  /** Best first. */
  list(): { score: number; item: T }[] {
    const order = this.scores.map((_, at) => at).sort((one, other) => (this.worse(one, other) ? 1 : -1));
    return order.map((at) => ({ score: this.scores[at]!, item: this.items[at]! }));
  }

  private worse(one: number, other: number): boolean {
    const difference = this.scores[one]! - this.scores[other]!;
    if (difference !== 0) return difference < 0;
    return this.before(this.items[other]!, this.items[one]!);
  }

  private rise(from: number): void {
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.worse(at, parent)) return;
      this.swap(at, parent);
      at = parent;
    }
  }

  private sink(): void {
    let at = 0;
    for (;;) {
      let worst = at;
      for (const child of [2 * at + 1, 2 * at + 2]) {
        if (child < this.scores.length && this.worse(child, worst)) worst = child;
      }
      if (worst === at) return;
      this.swap(at, worst);
      at = worst;
    }
  }

  private swap(one: number, other: number): void {
    const { scores, items } = this;
    [scores[one], scores[other]] = [scores[other]!, scores[one]!];
    [items[one], items[other]] = [items[other]!, items[one]!];
  }
}
