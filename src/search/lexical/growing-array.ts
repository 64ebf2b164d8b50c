type Numbers = Uint8Array<ArrayBuffer> | Uint16Array<ArrayBuffer> | Uint32Array<ArrayBuffer>;

/** A typed array that grows by doubling. `values` is longer than `length`. */
export class GrowingArray<T extends Numbers> {
  values: T;
  length = 0;
  private readonly make: new (
    length: number,
  ) => T;

  constructor(make: new (length: number) => T, capacity = 1024) {
    this.make = make;
    this.values = new make(capacity);
  }

  push(value: number): void {
    if (this.length === this.values.length) {
      const larger = new this.make(this.length * 2);
      larger.set(this.values);
      this.values = larger;
    }
    this.values[this.length++] = value;
  }

  /** The pushed values, without spare room. */
  trimmed(): T {
    return this.values.slice(0, this.length) as T;
  }
}
