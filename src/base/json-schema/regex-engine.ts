import type { RegExpEngine } from "ajv/dist/types/index.js";
import { RE2JS } from "re2js";

const MAX_PATTERN_LENGTH = 4096;
const MAX_PROGRAMS = 50_000;
/** Cost of starting a match, besides the characters it reads. */
const START = 16;

export type RegexEngine = ReturnType<typeof createRegexEngine>;

/** Matches the patterns of one schema in linear time. The meter bounds its work. */
export function createRegexEngine(meter: Meter) {
  const compiled = new Map<string, RE2JS | undefined>();
  let programs = 0;

  function find(pattern: string): RE2JS | undefined {
    if (compiled.has(pattern)) return compiled.get(pattern);
    const regex = programs > MAX_PROGRAMS ? undefined : compile(pattern);
    programs += regex?.programSize() ?? 1;
    compiled.set(pattern, regex);
    return regex;
  }

  function match(pattern: string, text: string): boolean {
    const regex = find(pattern);
    if (regex === undefined) return true;
    return !meter.allowsPattern(regex.programSize() * (text.length + START)) || regex.test(text);
  }

  // Ajv distinguishes patterns by their text form.
  const ajvEngine: RegExpEngine = Object.assign(
    (pattern: string) => ({ test: (text: string) => match(pattern, text), toString: () => `re2:${pattern}` }),
    { code: "keyhole.re2" },
  );
  /** Whether the pattern can be checked. Look-around and back-references cannot. */
  const supports = (pattern: string) => find(pattern) !== undefined;
  return { supports, ajvEngine };
}

function compile(pattern: string): RE2JS | undefined {
  if (pattern.length > MAX_PATTERN_LENGTH || hasNamedReference(pattern)) return undefined;
  try {
    return RE2JS.compile(RE2JS.translateRegExp(pattern));
  } catch {
    return undefined;
  }
}

/** RE2JS reads `\k<name>` as plain letters instead of refusing it. */
function hasNamedReference(pattern: string): boolean {
  for (let at = pattern.indexOf("\\"); at !== -1; at = pattern.indexOf("\\", at + 2)) {
    if (pattern[at + 1] === "k") return true;
  }
  return false;
}

/** Takes about 50 ms. */
const MAX_WORK = 500_000;
const MAX_PATTERN_WORK = 2_000_000;

/** Bounds the work of one check of params, for any schema and params. */
export class Meter {
  #workLeft = MAX_WORK;
  #patternWorkLeft = MAX_PATTERN_WORK;
  patternsSkipped = false;

  /** Throws the meter when the allowance is used up, to leave the check. */
  spend(work: number): void {
    this.#workLeft -= work;
    if (this.#workLeft < 0) throw this;
  }

  /** False if a pattern would cost more than remains. It is then skipped. */
  allowsPattern(work: number): boolean {
    const isAllowed = work <= this.#patternWorkLeft;
    if (isAllowed) this.#patternWorkLeft -= work;
    else this.patternsSkipped = true;
    return isAllowed;
  }

  reset(): void {
    this.#workLeft = MAX_WORK;
    this.#patternWorkLeft = MAX_PATTERN_WORK;
    this.patternsSkipped = false;
  }
}
