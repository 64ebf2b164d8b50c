import type { Entry } from "../schema/entry.ts";
import { hashText, nameKey } from "../search/lexical/name-key.ts";

/** Finds entries by any spelling of their names. */
export interface NameTable {
  /** Whether a key of this hash may be in the table. */
  mayHave(hash: number): boolean;
  has(key: string): boolean;
  /** In the order in which they were given. */
  find(key: string): Entry[];
}

/** Three names of an entry take half of its room. */
const ROOM = 6;
const EMPTY = 0;

/** Holds the hashes of names alone, because the keys of a large catalog would take as much memory as its entries. */
export function createNameTable(entries: readonly Entry[]): NameTable {
  const names = entries.reduce((count, { aliases }) => count + aliases.length, 3 * entries.length);
  const size = 2 ** Math.ceil(Math.log2(Math.max(1, names) * (ROOM / 3)));
  const mask = size - 1;
  const hashes = new Uint32Array(size);
  /** The place of an entry, counted from 1. */
  const places = new Uint32Array(size);

  function add(key: string, place: number): void {
    if (key === "") return;
    const hash = hashText(key);
    let slot = hash & mask;
    for (; places[slot] !== EMPTY; slot = (slot + 1) & mask)
      if (places[slot] === place && hashes[slot] === hash) return;
    hashes[slot] = hash;
    places[slot] = place;
  }

  /** The entries at a hash, by their places. */
  function* at(hash: number): Generator<number> {
    for (let slot = hash & mask; places[slot] !== EMPTY; slot = (slot + 1) & mask)
      if (hashes[slot] === hash) yield places[slot]! - 1;
  }

  function* found(key: string): Generator<number> {
    for (const place of at(hashText(key)))
      if (namesOf(entries[place]!).some((name) => nameKey(name) === key)) yield place;
  }

  entries.forEach((entry, place) => {
    for (const name of namesOf(entry)) add(nameKey(name), place + 1);
  });
  return {
    mayHave: (hash) => !at(hash).next().done,
    has: (key) => !found(key).next().done,
    find: (key) =>
      [...new Set(found(key))].sort((left, right) => left - right).map((place) => entries[place]!),
  };
}

function namesOf({ name, op, route, aliases }: Entry): string[] {
  return [name, op, route, ...aliases];
}
