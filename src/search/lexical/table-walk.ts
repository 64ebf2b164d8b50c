import type { StringTable } from "./string-table.ts";

/** Walks through several sorted tables in one order: `next` goes to the next string and the tables that have it. */
export class TableWalk {
  private readonly tables: readonly StringTable[];
  /** By table: the number of its string that comes next. */
  private readonly cursors: Uint32Array;
  /** Tables that are not at their end, by their next string. */
  private readonly order: number[] = [];
  /** The tables that have the current string. `numberIn` gives its number there. */
  readonly current: number[] = [];

  constructor(tables: readonly StringTable[]) {
    this.tables = tables;
    this.cursors = new Uint32Array(tables.length);
    for (let table = 0; table < tables.length; table++) this.enqueue(table);
  }

  /** False at the end. */
  next(): boolean {
    const { current, order } = this;
    for (const table of current) {
      this.cursors[table]!++;
      this.enqueue(table);
    }
    current.length = 0;
    if (order.length === 0) return false;
    do current.push(order.pop()!);
    while (order.length > 0 && this.compare(order.at(-1)!, current[0]!) === 0);
    return true;
  }

  numberIn(table: number): number {
    return this.cursors[table]!;
  }

  /** Keeps the order from last to first, so that the next table is taken from the end. */
  private enqueue(table: number): void {
    if (this.cursors[table]! >= this.tables[table]!.size) return;
    const { order } = this;
    let low = 0;
    let high = order.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.compare(order[middle]!, table) > 0) low = middle + 1;
      else high = middle;
    }
    order.splice(low, 0, table);
  }

  private compare(one: number, other: number): number {
    const { units, offsets } = this.tables[one]!;
    const { units: otherUnits, offsets: otherOffsets } = this.tables[other]!;
    let at = offsets[this.cursors[one]!]!;
    const end = offsets[this.cursors[one]! + 1]!;
    let otherAt = otherOffsets[this.cursors[other]!]!;
    const otherEnd = otherOffsets[this.cursors[other]! + 1]!;
    const length = end - at - (otherEnd - otherAt);
    while (at < end && otherAt < otherEnd) {
      const difference = units[at++]! - otherUnits[otherAt++]!;
      if (difference !== 0) return difference;
    }
    return length;
  }
}
