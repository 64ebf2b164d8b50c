import type { RegExpEngine } from "ajv/dist/types/index.js";
import { RE2JS } from "re2js";
import type { Meter } from "./meter.ts";

const MAX_PATTERN_LENGTH = 4096;
const MAX_PROGRAMS = 50_000;
/** The cost of starting a match, in addition to the characters it reads. */
const START = 16;

/** The patterns of one schema, matched in time linear in the text. */
export interface RegexEngine {
  /** Whether the pattern can be checked. Look-around and back-references cannot. */
  supports(pattern: string): boolean;
  readonly ajvEngine: RegExpEngine;
}

/** Creates the engine for one schema. The meter bounds its work. */
export function createRegexEngine(meter: Meter): RegexEngine {
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
  return { supports: (pattern) => find(pattern) !== undefined, ajvEngine };
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
