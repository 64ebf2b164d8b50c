import { analyze } from "../analysis/analyze.ts";
import type { QueryWords } from "../analysis/analyze-query.ts";
import { isStopWord } from "../analysis/stop-words.ts";
import { hashText, MAX_NAME } from "./name-key.ts";

/** A piece of a query that may be a whole name. */
export interface NameSpan {
  /** As `nameKey` makes it. */
  readonly key: string;
  readonly written: string;
  readonly terms: readonly string[];
  /** How many written words it has. */
  readonly words: number;
  /** The query says nothing else, or it is written as only names are: `getUserInfo`, `a.b`, quoted. */
  readonly sure: boolean;
  /** Plain words that are meant as the name if a document spells it just so: several of them, or `use fetch`. */
  readonly sureIfSame: boolean;
}

interface Unit {
  readonly key: string;
  readonly start: number;
  readonly end: number;
  readonly shaped: boolean;
}

const MAX_UNITS = 16;
/** Sentences put these between the words of a name: "create a pull request", "fork this repository". */
const ARTICLES = new Set(["a", "an", "the", "this", "that", "my", "our", "your"]);
const OPENING = /["'`“‘«「『[(<]/;

/** Tells whether a name is known: first cheaply by the hash of its key, then for sure. */
export interface KnownNames {
  mayHave(hash: number): boolean;
  has(key: string): boolean;
}

/** Pieces of one or more neighbouring words that are names; articles between the words may be left out. */
export function nameSpans(words: QueryWords, known: KnownNames): NameSpan[] {
  const units = unitsOf(words);
  const bare = units.filter((unit) => !ARTICLES.has(unit.key));
  const spans = spansIn(words.text, units, known);
  if (bare.length < units.length) spans.push(...spansIn(words.text, bare, known));
  return spans.filter((span) => span.sure || span.sureIfSame || span.terms.length > 0);
}

function spansIn(text: string, units: readonly Unit[], known: KnownNames): NameSpan[] {
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

/** Words, and single characters where a script has no spaces. */
function unitsOf({ text, compounds }: QueryWords): Unit[] {
  return compounds.flatMap(({ start, end, parts, unspaced }): Unit[] => {
    if (!unspaced) return [{ key: parts.join("").toLowerCase(), start, end, shaped: parts.length > 1 }];
    let at = start;
    return Array.from(text.slice(start, end), (key) => {
      const from = at;
      at += key.length;
      return { key, start: from, end: at, shaped: false };
    });
  });
}

function toSpan(text: string, units: readonly Unit[], first: number, last: number, key: string): NameSpan {
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

/** Words after which a plain word is a name. */
const CUES = new Set([
  "use",
  "using",
  "call",
  "calling",
  "run",
  "running",
  "try",
  "via",
  "invoke",
  "execute",
  "usa",
  "utilise",
  "utilisez",
  "benutze",
  "verwende",
  "用",
]);
const KINDS = new Set(["tool", "function", "command", "skill", "prompt", "op", "api", "endpoint"]);
