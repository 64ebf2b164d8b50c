import { StringTable } from "./string-table.ts";

/** Makes a table of strings that are copied from others, in sorted order. */
export class StringTableWriter {
  /** How many strings there is room for. */
  readonly room: number;
  size = 0;
  private readonly units: Uint8Array | Uint16Array;
  private readonly offsets: Uint32Array;
  private length = 0;

  /** There is room for all strings of these tables. */
  constructor(tables: readonly StringTable[]) {
    this.room = tables.reduce((sum, table) => sum + table.size, 0);
    const units = tables.reduce((sum, table) => sum + table.units.length, 0);
    const isWide = tables.some((table) => table.units.BYTES_PER_ELEMENT > 1);
    this.units = isWide ? new Uint16Array(units) : new Uint8Array(units);
    this.offsets = new Uint32Array(this.room + 1);
  }

  copy({ units, offsets }: StringTable, number: number): void {
    const end = offsets[number + 1]!;
    for (let at = offsets[number]!; at < end; at++) this.units[this.length++] = units[at]!;
    this.offsets[++this.size] = this.length;
  }

  finish(): StringTable {
    return new StringTable(this.units.slice(0, this.length), this.offsets.slice(0, this.size + 1));
  }
}
