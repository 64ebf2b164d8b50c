/** Sorted distinct strings in one block of UTF-16 units (bytes where Latin-1 suffices), found by binary search. */
export class StringTable {
  readonly units: Uint8Array | Uint16Array;
  /** One more than there are strings; string `i` is `units[offsets[i] .. offsets[i + 1]]`. */
  readonly offsets: Uint32Array;
  private readonly bytes: Buffer;

  constructor(units: Uint8Array | Uint16Array, offsets: Uint32Array) {
    this.units = units;
    this.offsets = offsets;
    this.bytes = Buffer.from(units.buffer, units.byteOffset, units.byteLength);
  }

  /** `sorted` must be in code unit order (as `Array.prototype.sort` gives it) without repeats. */
  static from(sorted: readonly string[]): StringTable {
    const offsets = new Uint32Array(sorted.length + 1);
    let total = 0;
    let wide = 0;
    for (let at = 0; at < sorted.length; at++) {
      const text = sorted[at]!;
      for (let unit = 0; unit < text.length; unit++) wide |= text.charCodeAt(unit);
      total += text.length;
      offsets[at + 1] = total;
    }
    const units = wide > 0xff ? new Uint16Array(total) : new Uint8Array(total);
    let to = 0;
    for (const text of sorted)
      for (let unit = 0; unit < text.length; unit++) units[to++] = text.charCodeAt(unit);
    return new StringTable(units, offsets);
  }

  get size(): number {
    return this.offsets.length - 1;
  }

  get(index: number): string {
    const start = this.offsets[index]!;
    const end = this.offsets[index + 1]!;
    const width = this.units.BYTES_PER_ELEMENT;
    return this.bytes.toString(width === 1 ? "latin1" : "utf16le", start * width, end * width);
  }

  /** The index of the string, or -1. */
  find(text: string): number {
    const at = this.lowerBound(text);
    return at < this.size && this.compare(at, text) === 0 ? at : -1;
  }

  /** The first index whose string is not before `text`. */
  lowerBound(text: string): number {
    let low = 0;
    let high = this.size;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.compare(middle, text) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  startsWith(index: number, prefix: string): boolean {
    const start = this.offsets[index]!;
    if (this.offsets[index + 1]! - start < prefix.length) return false;
    for (let at = 0; at < prefix.length; at++) {
      if (this.units[start + at] !== prefix.charCodeAt(at)) return false;
    }
    return true;
  }

  private compare(index: number, text: string): number {
    const start = this.offsets[index]!;
    const length = this.offsets[index + 1]! - start;
    const shared = Math.min(length, text.length);
    for (let at = 0; at < shared; at++) {
      const difference = this.units[start + at]! - text.charCodeAt(at);
      if (difference !== 0) return difference;
    }
    return length - text.length;
  }
}
