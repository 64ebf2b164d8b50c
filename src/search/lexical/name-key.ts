import { lazy } from "../../util/lazy.ts";
import { foldAccents } from "../analysis/fold.ts";
import type { SearchDocument } from "../port/search-index.ts";
import { FULL_IMPACT } from "./fields.ts";

/** Names longer than this are compared by their beginning. */
export const MAX_NAME = 128;

/** Before a name's key in the dictionary. No analysed term starts with it. */
export const NAME_SIGN = "~";

/** Before a word that a document has from its domain's text only: it does not make the word less rare. */
export const DOMAIN_SIGN = "~@";

const edges = lazy(() => /^[^\p{L}\p{N}\p{M}]+|[^\p{L}\p{N}\p{M}]+$/gu);
const ASCII = /^[\0-\x7f]*$/;
const ASCII_SEPARATORS = /[^A-Za-z0-9]+/g;
const separators = lazy(() => /[^\p{L}\p{N}\p{M}]+/gu);

/** The form in which `get_user_info`, `getUserInfo` and `Get user info` are one name. */
export function nameKey(name: string): string {
  // The names of nearly all tools, for which the tables of Unicode would take most of the time.
  if (ASCII.test(name)) return name.replace(ASCII_SEPARATORS, "").toLowerCase().slice(0, MAX_NAME);
  return foldAccents(name).replace(separators(), "").toLowerCase().slice(0, MAX_NAME);
}

/**
 * The dictionary terms that stand for the document's name and aliases in any spelling, each with a print of
 * how it was written, which is kept in the place of an impact.
 */
export function nameTerms(document: SearchDocument): Map<string, number> {
  const terms = new Map<string, number>();
  for (const name of [document.name, ...document.aliases.slice(0, 64)]) {
    const key = nameKey(name);
    const term = NAME_SIGN + key;
    if (key !== "" && !terms.has(term)) terms.set(term, spellingPrint(name));
  }
  return terms;
}

/** Tells two spellings of the same key apart; 1 to `FULL_IMPACT`. */
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

/** `hashText` of a piece of UTF-16 units. */
export function hashUnits(units: Uint8Array | Uint16Array, from: number, to: number): number {
  let hash = 0x811c9dc5;
  for (let at = from; at < to; at++) hash = Math.imul(hash ^ units[at]!, 0x01000193);
  return hash >>> 0;
}
