/**
 * Caches at most this many values and forgets those that nobody has asked for lately, in two halves. An `LRUCache` of
 * many values takes megabytes before it holds the first.
 */
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
