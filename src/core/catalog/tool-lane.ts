import { fieldsOf, isPlainObject, listOf, type PlainObject } from "../../base/util/plain-object.ts";
import { splitWords } from "../../base/util/split-words.ts";
import {
  BELIEVED,
  effectOfLeadingWord,
  effectOfNameWord,
  effectOfWord,
  isNounEnding,
  NOUNS_TOO,
  THINGS,
} from "../../search/analysis/tool-verbs.ts";
import { LANES, type Lane } from "../nouns/entry.ts";

/** The parts of a server's definition that show what a tool may do. */
export interface DeclaredTool {
  readonly name: string;
  readonly annotations?: { readonly readOnlyHint?: boolean; readonly destructiveHint?: boolean } | undefined;
  readonly inputSchema?: unknown;
}

/** Longer names are not read and do not count as reading. */
const NAME_CHARS = 1_000;
/** Characters that hide in a name, and words of letters of two scripts. */
const DISGUISED =
  /[\p{Cc}\p{Cf}\p{Co}]|\p{Script=Latin}(?=[\p{Script=Cyrillic}\p{Script=Greek}])|[\p{Script=Cyrillic}\p{Script=Greek}](?=\p{Script=Latin})/u;

/**
 * Decides the lane of an outside tool. It reads only if it says so and no word of its name or schema writes or
 * destroys. The strictest sign wins; without hints it writes. Only a person may choose a milder lane.
 */
export function laneOfTool(tool: DeclaredTool): Lane {
  const { readOnlyHint, destructiveHint } = tool.annotations ?? {};
  const declared = destructiveHint === true ? "destructive" : readOnlyHint === true ? "read" : "write";
  if (tool.name.length > NAME_CHARS || DISGUISED.test(tool.name)) return strongest(declared, "write");
  const words = wordsOf(tool.name).filter((word) => readOnlyHint !== true || !BELIEVED.has(word));
  return strongest(declared, laneOfName(words), laneOfSchema(tool.inputSchema));
}

/** The lane that name and schema imply: reading if the first verb reads; `isOwn`: also for `query`, `visit` etc. */
export function impliedLane({ name, inputSchema }: DeclaredTool, { isOwn = false } = {}): Lane {
  const words = wordsOf(name.slice(0, NAME_CHARS));
  const effect = effectOfWord(words.find(isVerb) ?? "");
  const reads = effect === "read" || (isOwn && effect === "unclear");
  return strongest(reads ? "read" : "write", laneOfName(words), laneOfSchema(inputSchema));
}

/**
 * Guesses the lane of a tool in code without a declared one: by its verbs, else `read`. A word that may be a noun is
 * one if the description speaks of a thing: `merge-requests`, "Merge requests of a project".
 */
export function guessLane(
  name: string,
  description: string,
): { readonly lane: Lane; readonly isSure: boolean } {
  const words = splitWords(name);
  const nouns = words.filter((word) => NOUNS_TOO.has(word) && isThingIn(description, word));
  const isTelling = (word: string) =>
    !NOUNS_TOO.has(word) && effectOfWord(word) !== "unclear" && isVerb(word);
  return { lane: laneOfWords(words, new Set(nouns)), isSure: words.some(isTelling) };
}

/** The strictest of these lanes. */
export function strongest(first: Lane, ...lanes: readonly Lane[]): Lane {
  return lanes.reduce((left, right) => (LANES.indexOf(left) >= LANES.indexOf(right) ? left : right), first);
}

/** Words before another verb: `search_and_replace`. */
const JOINING: ReadonlySet<string> = new Set(["and", "or", "then", "n", "plus"]);

/** The words of a name, without accents and widths of letters. */
function wordsOf(name: string): string[] {
  return splitWords(name.normalize("NFKD").replace(/\p{M}/gu, ""));
}

/** The strictest verb in a name, its first word included that is a verb in this place alone. */
function laneOfName(words: readonly string[]): Lane {
  const isThing = words.some(isReading) || isNounEnding(words.at(-1) ?? "");
  const lanes = words.map((word, at): Lane => {
    const isJoined = JOINING.has(words[at - 1] ?? "");
    // A word that is joined to a verb is one, too: `list_and_label`.
    if (isJoined && isReading(words[at - 2] ?? "") && !isReading(word))
      return strongest("write", laneOfVerb(word));
    return isJoined || (at === 0 && !isThing)
      ? toLane(effectOfLeadingWord(word, words.length === 1))
      : "read";
  });
  return strongest(laneOfWords(words), ...lanes);
}

/** The strictest verb among words; `read` without one. */
function laneOfWords(words: readonly string[], nouns: ReadonlySet<string> = new Set()): Lane {
  const lanes = words.map((word, at): Lane => {
    const effect = effectOfNameWord(`${word}_${words[at + 1]}`) ?? effectOfNameWord(word) ?? "read";
    if (effect === "read" || effect === "unclear") return "read";
    if (JOINING.has(words[at - 1] ?? "")) return effect;
    const isThing = nouns.has(word) || (THINGS.has(word) && words.some(isVerb));
    const isObject = NOUNS_TOO.has(word) && words.slice(0, at).some(isReading);
    return isThing || isObject ? "read" : effect;
  });
  return strongest("read", ...lanes);
}

function isVerb(word: string): boolean {
  return effectOfWord(word) !== undefined && !THINGS.has(word);
}

function isReading(word: string): boolean {
  return effectOfWord(word) === "read" || effectOfWord(word) === "unclear";
}

/** Whether a description begins with a verb that reads, with no verb, or with the word as a noun. */
function isThingIn(description: string, word: string): boolean {
  const [first = "", second = "", third = ""] = splitWords(description.slice(0, 200));
  const stems = [first, first.replace(/s$/, ""), first.replace(/es$/, "")];
  if (stems.includes(word)) return CLAUSES.has(second) || CLAUSES.has(third);
  return stems.every((stem) => laneOfVerb(stem) === "read");
}

/** Words that follow a noun phrase: "Merge requests of a project", "Orders that wait". */
const CLAUSES: ReadonlySet<string> = new Set(["of", "that", "which", "whose"]);

/** Larger schemas are not read to the end and do not count as reading. */
const MOST_PARTS = 5_000;
/** Keys whose values are texts or examples. */
const NO_SCHEMAS: ReadonlySet<string> = new Set(["default", "examples", "example", "description", "title"]);

/** The strictest word among the arguments of a tool and their choices; `read` without one. */
function laneOfSchema(schema: unknown): Lane {
  const waiting: { readonly part: unknown; readonly argument: string }[] = [{ part: schema, argument: "" }];
  let lane: Lane = "read";
  for (let parts = 0; waiting.length > 0; parts += 1) {
    if (parts > MOST_PARTS) return strongest(lane, "write");
    const { part, argument } = waiting.pop()!;
    if (typeof part !== "object" || part === null) continue;
    for (const [key, value] of Object.entries(part)) {
      if (NO_SCHEMAS.has(key)) continue;
      if (key === "enum" || key === "const") {
        for (const choice of [value].flat()) lane = strongest(lane, laneOfChoice(choice, argument));
      } else if (key === "properties" && isPlainObject(value)) {
        for (const [name, inner] of Object.entries(value)) {
          lane = strongest(lane, laneOfArgument(name, fieldsOf(inner)));
          waiting.push({ part: inner, argument: name });
        }
      } else waiting.push({ part: value, argument });
    }
  }
  return lane;
}

/** Arguments that select the action of a call. */
const ACTIONS: ReadonlySet<string> = new Set(["action", "operation", "op", "command", "cmd", "intent"]);
const MODES: ReadonlySet<string> = new Set([...ACTIONS, "method", "mode", "verb"]);
/** Arguments whose text is executed. */
const STATEMENTS: ReadonlySet<string> = new Set(
  "sql statement mutation script shell bash powershell applescript command cmd javascript cypher gremlin".split(
    " ",
  ),
);
/** Endings of names for a time or an amount: `delete_time`, `created_before`. */
const MEASURES = /^(?:date|time|timestamp|at|after|before|since|until|count|by|capacity|distance|id)$/;
/** Verbs that count as the whole name of a switch, though they are nouns in longer names. */
const SWITCHES: ReadonlySet<string> = new Set("force commit save submit apply reset merge update".split(" "));

function laneOfArgument(name: string, schema: PlainObject): Lane {
  const words = splitWords(name);
  const [first = "", last = ""] = [words[0], words.at(-1)];
  const hasType = (type: string) => [schema.type ?? type].flat().includes(type);
  const isRun = STATEMENTS.has(last) || first === "sql" || (words.length === 1 && ACTIONS.has(first));
  const isTried = first === "dry" && last === "run";
  const signs: Lane[] = isTried || (isRun && hasType("string") && !hasChoices(schema)) ? ["write"] : [];
  if (MEASURES.test(last)) return strongest("read", ...signs);
  if (!NOUNS_TOO.has(first)) signs.push(laneOfVerb(first));
  if (hasType("boolean")) {
    if (words.length === 1 && SWITCHES.has(first)) signs.push(laneOfVerb(first));
    if (words.some((word) => !NOUNS_TOO.has(word) && laneOfVerb(word) === "destructive"))
      signs.push("destructive");
  }
  return strongest("read", ...signs);
}

function hasChoices(schema: PlainObject): boolean {
  const parts = [schema, ...listOf(schema.anyOf), ...listOf(schema.oneOf)].map(fieldsOf);
  return parts.some((part) => "enum" in part || "const" in part);
}

/** In other arguments, choices name states and kinds (`open`, `comment`), so only plain destruction counts. */
function laneOfChoice(choice: unknown, argument: string): Lane {
  if (typeof choice !== "string") return "read";
  const words = splitWords(choice.slice(0, 200));
  const about = splitWords(argument);
  if (MODES.has(about.at(-1) ?? "") || about.some((word) => ACTIONS.has(word))) return laneOfWords(words);
  const [only = ""] = words;
  return words.length === 1 && !NOUNS_TOO.has(only) && laneOfVerb(only) === "destructive"
    ? "destructive"
    : "read";
}

function laneOfVerb(word: string): Lane {
  return toLane(effectOfWord(word));
}

function toLane(effect: ReturnType<typeof effectOfWord>): Lane {
  return effect === undefined || effect === "unclear" ? "read" : effect;
}
