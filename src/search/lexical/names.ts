import { lazy } from "../../base/util/lazy.ts";
import { memoizeByObject } from "../../base/util/memoize-by-object.ts";
import { analyze, isStopWord } from "../analysis/analyze.ts";
import type { QueryWords } from "../analysis/analyze-query.ts";
import { foldAccents } from "../analysis/split-compounds.ts";
import type { SearchDocument } from "../port/search-index.ts";
import { FULL_IMPACT } from "../ranking/tuning.ts";

/** Longer names are compared by their beginning. */
export const MAX_NAME = 128;

/** Prefix of a name's key in the dictionary. No analysed term starts with it. */
export const NAME_SIGN = "~";

/** Prefix of a word that a document has only from its domain's text: it does not make the word less rare. */
export const DOMAIN_SIGN = "~@";

const edges = lazy(() => /^[^\p{L}\p{N}\p{M}]+|[^\p{L}\p{N}\p{M}]+$/gu);
const ASCII = /^[\0-\x7f]*$/;
const ASCII_SEPARATORS = /[^A-Za-z0-9]+/g;
const separators = lazy(() => /[^\p{L}\p{N}\p{M}]+/gu);

/** The common key of `get_user_info`, `getUserInfo` and `Get user info`. */
export function nameKey(name: string): string {
  // Fast path for ASCII, which covers nearly all names of tools and needs no Unicode tables.
  if (ASCII.test(name)) return name.replace(ASCII_SEPARATORS, "").toLowerCase().slice(0, MAX_NAME);
  return foldAccents(name).replace(separators(), "").toLowerCase().slice(0, MAX_NAME);
}

/** Dictionary terms for a document's names in any spelling, each with a print of its spelling instead of an impact. */
export function nameTerms(document: SearchDocument): Map<string, number> {
  const terms = new Map<string, number>();
  for (const name of [document.name, ...document.aliases.slice(0, 64)]) {
    const key = nameKey(name);
    const term = NAME_SIGN + key;
    if (key !== "" && !terms.has(term)) terms.set(term, spellingPrint(name));
  }
  return terms;
}

/** Distinguishes spellings of the same key; 1 to `FULL_IMPACT`. */
export function spellingPrint(name: string): number {
  const hash = hashText(foldAccents(name.slice(0, MAX_NAME)).replace(edges(), ""));
  return (((hash ^ (hash >>> 16)) >>> 0) % FULL_IMPACT) + 1;
}

/** FNV-1a over UTF-16 units, continued from `seed`. */
export function hashText(text: string, seed = 0x811c9dc5): number {
  let hash = seed;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

/** `hashText` of a range of UTF-16 units. */
export function hashUnits(units: Uint8Array | Uint16Array, from: number, to: number): number {
  let hash = 0x811c9dc5;
  for (let at = from; at < to; at++) hash = Math.imul(hash ^ units[at]!, 0x01000193);
  return hash >>> 0;
}

/** A part of a query that may be a whole name. */
export interface NameSpan {
  /** As `nameKey` makes it. */
  readonly key: string;
  readonly written: string;
  readonly terms: readonly string[];
  /** Number of its written words. */
  readonly words: number;
  /** Whether the query contains nothing else, or it is written like a name: `getUserInfo`, `a.b`, quoted. */
  readonly sure: boolean;
  /** Whether it is meant as the name if a document has the same spelling: several plain words, or `use fetch`. */
  readonly sureIfSame: boolean;
}

interface NameUnit {
  readonly key: string;
  readonly start: number;
  readonly end: number;
  readonly shaped: boolean;
}

const MAX_UNITS = 16;
/** Sentences put these between the words of a name: "create a pull request", "fork this repository". */
const ARTICLES = new Set(["a", "an", "the", "this", "that", "my", "our", "your"]);
const OPENING = /["'`“‘«「『[(<]/;

/** Whether a name is known: first a fast check by the hash of its key, then an exact one. */
interface KnownNames {
  mayHave(hash: number): boolean;
  has(key: string): boolean;
}

/** Runs of neighbouring words that are names; articles between the words may be left out. */
export function nameSpans(words: QueryWords, known: KnownNames): NameSpan[] {
  const units = unitsOf(words);
  const bare = units.filter((unit) => !ARTICLES.has(unit.key));
  const spans = spansIn(words.text, units, known);
  if (bare.length < units.length) spans.push(...spansIn(words.text, bare, known));
  return spans.filter((span) => span.sure || span.sureIfSame || span.terms.length > 0);
}

function spansIn(text: string, units: readonly NameUnit[], known: KnownNames): NameSpan[] {
  const spans: NameSpan[] = [];
  for (let first = 0; first < units.length; first++) {
    let hash: number | undefined;
    let length = 0;
    for (let last = first; last < units.length && last < first + MAX_UNITS; last++) {
      const { key } = units[last]!;
      hash = hashText(key, hash);
      length += key.length;
      if (length > MAX_NAME) break;
      if (!known.mayHave(hash)) continue;
      const whole = units
        .slice(first, last + 1)
        .map((unit) => unit.key)
        .join("");
      if (known.has(whole)) spans.push(toSpan(text, units, first, last, whole));
    }
  }
  return spans;
}

/** Words, or single characters of a script without spaces. */
function unitsOf({ text, compounds }: QueryWords): NameUnit[] {
  return compounds.flatMap(({ start, end, parts, unspaced }): NameUnit[] => {
    if (!unspaced) return [{ key: parts.join("").toLowerCase(), start, end, shaped: parts.length > 1 }];
    let at = start;
    return Array.from(text.slice(start, end), (key) => {
      const from = at;
      at += key.length;
      return { key, start: from, end: at, shaped: false };
    });
  });
}

function toSpan(
  text: string,
  units: readonly NameUnit[],
  first: number,
  last: number,
  key: string,
): NameSpan {
  const { start } = units[first]!;
  const { end } = units[last]!;
  const written = text.slice(start, end);
  const whole = units.every((unit, at) => (at >= first && at <= last) || isStopWord(unit.key));
  const quoted =
    start > 0 && OPENING.test(text[start - 1]!) && end < text.length && !/[\w\s]/.test(text[end]!);
  const shaped = first === last && units[first]!.shaped;
  const linked = last > first && !/\s/.test(written) && /[^\p{L}\p{N}\p{M}]/u.test(written);
  const found = analyze(written).filter((term) => !term.joined && !isStopWord(term.word));
  const terms = [...new Set(found.map((term) => term.text))];
  const before = units[first - 1]?.key ?? "";
  const after = units[last + 1]?.key ?? "";
  const cued = CUES.has(before) || KINDS.has(before) || KINDS.has(after);
  return {
    key,
    written,
    terms,
    words: last - first + 1,
    sure: whole || quoted || shaped || linked,
    sureIfSame: cued || (last > first && /\s/.test(written) && terms.length > 1),
  };
}

/** Words before a plain word that is a name. */
const CUES = new Set(
  "use using call calling run running try via invoke execute usa utilise utilisez benutze verwende 用".split(
    " ",
  ),
);
const KINDS = new Set(["tool", "function", "command", "skill", "prompt", "op", "api", "endpoint"]);

/** An entry with its names. */
export interface NamedThing {
  readonly name: string;
  readonly op: string;
  readonly route: string;
  readonly aliases: readonly string[];
}

/** Finds entries by any spelling of their names. */
export interface NameTable<E> {
  /** Whether the table may have a key with this hash. */
  mayHave(hash: number): boolean;
  has(key: string): boolean;
  /** In the original order. */
  find(key: string): E[];
  /** Entries with exactly this name, op, route or alias. */
  named(name: string): E[];
}

/** Slots per entry; its three names fill half. */
const ROOM = 6;
const EMPTY = 0;

const tables = memoizeByObject(createNameTable<NamedThing>);

/** The only index from names to entries, created on first use for each list of entries. */
export function nameTableOf<E extends NamedThing>(entries: readonly E[]): NameTable<E> {
  return tables(entries) as NameTable<E>;
}

/** Stores only hashes of names: the keys of a large catalog would take as much memory as its entries. */
function createNameTable<E extends NamedThing>(entries: readonly E[]): NameTable<E> {
  const names = entries.reduce((count, { aliases }) => count + aliases.length, 3 * entries.length);
  const size = 2 ** Math.ceil(Math.log2(Math.max(1, names) * (ROOM / 3)));
  const mask = size - 1;
  const hashes = new Uint32Array(size);
  /** Position of an entry, from 1. */
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

  /** The entries at a hash, by position. */
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
  const find = (key: string) =>
    [...new Set(found(key))].sort((left, right) => left - right).map((place) => entries[place]!);
  return {
    mayHave: (hash) => !at(hash).next().done,
    has: (key) => !found(key).next().done,
    find,
    named: (name) => {
      const key = nameKey(name);
      // A name without letters and digits has no key.
      return (key === "" ? entries : find(key)).filter((entry) => namesOf(entry).includes(name));
    },
  };
}

export function namesOf({ name, op, route, aliases }: NamedThing): string[] {
  return [name, op, route, ...aliases];
}
