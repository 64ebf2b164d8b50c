import { detectInjection } from "../../base/safety/detect-injection.ts";
import { toVisibleLine } from "../../base/safety/visible-text.ts";
import { fitPieces, type Piece } from "../../base/tokens/fit-pieces.ts";
import type { TokenCounter } from "../../base/tokens/tokens.ts";
import { countOf } from "../../base/util/count-of.ts";
import { fieldsOf, type PlainObject } from "../../base/util/plain-object.ts";
import { splitWords } from "../../base/util/split-words.ts";
import { toSummary } from "../../base/util/to-summary.ts";
import { effectOfVerb } from "../../search/analysis/tool-verbs.ts";
import type { View } from "../access/view.ts";
import { readDomainWords, singular, splitVerb } from "../catalog/op-name.ts";
import { type Entry, knownStatus } from "../nouns/entry.ts";
import { domainsBySize, entriesByDomain, instructionsOf } from "../operations/describe-directory.ts";

/** A domain as the map of a catalog shows it. */
interface DomainRow {
  readonly name: string;
  /** Everything that it lists. */
  readonly count: number;
  /** Its tools and skills: the used ones, then the most telling. */
  readonly tools: readonly NamedTool[];
  /** How many of them the caller has used. */
  readonly used: number;
  /** The first sentence of its server's instructions. */
  readonly says?: string | undefined;
}

interface NamedTool {
  /** The name in its domain with the required arguments: `task.create(title)`. */
  readonly signature: string;
  readonly words: readonly string[];
  /** The thing that it is about: `pull request`. Empty if the name has no noun. */
  readonly noun: string;
}

/** More tools of one domain are never named. */
const MOST_NAMED = 40;
/** Tools of one domain that are compared. */
const MOST_COMPARED = 200;
const NAMED_KINDS: ReadonlySet<string> = new Set(["tool", "skill"]);
const MOST_NOUNS = 5;
const MOST_ARGS = 5;
const MOST_NAME_CHARS = 64;
const PLAIN_ARGUMENT = /^[\w.$-]{1,40}$/;
/** Verbs that are in no list of effects, and words between nouns. */
const NO_THINGS = /^(?:and|or|take|emulate|fill|handle|simulate|multiple)$/;
const MORE = "\nand more domains";
const SAYS_CHARS = 140;

/**
 * Writes a line for each domain: tools with their required arguments as far as the room reaches, then the nouns of the
 * other tools, then the words of its server. Used tools are named first, in turn by domain. Then each domain gets a name
 * before another gets its second.
 */
export function writeMap(rows: readonly DomainRow[], room: number, countTokens: TokenCounter): string {
  const lengths = chooseLengths(rows, room, countTokens);
  let left = room - countTokens(assemble(rows, lengths));
  const said = rows.map((row, at) => {
    if (row.says === undefined || lengths[at]! < 0) return row;
    left -= countTokens(saying(row.says));
    return left < 0 ? { ...row, says: undefined } : row;
  });
  return assemble(said, lengths, true);
}

function saying(says: string): string {
  return ` (its server says: "${says}")`;
}

function chooseLengths(
  rows: readonly DomainRow[],
  room: number,
  countTokens: TokenCounter,
): readonly number[] {
  const all = rows.map(({ tools }) => tools.length);
  const fits = rows.every(({ tools }) => tools.length <= MOST_NAMED);
  if (fits && countTokens(assemble(rows, all)) <= room) return all;
  const bare = rows.map((row): Piece => {
    const forms = [rowText(row, 0), `- ${row.name}`, ""];
    return { forms, prices: [1, 2] };
  });
  const chosen = fitPieces(bare, room - countTokens(MORE), countTokens);
  const lengths = chosen.map((form) => (form === 0 ? 0 : -form));
  let used = countTokens(assemble(rows, lengths));
  for (const most of [(row: DomainRow) => row.used, ({ tools }: DomainRow) => tools.length]) {
    for (let rank = 0; rank < MOST_NAMED; rank++) {
      for (const [at, row] of rows.entries()) {
        if (rank >= most(row) || lengths[at] !== rank) continue;
        used += countTokens(rowText(row, rank + 1)) - countTokens(rowText(row, rank));
        if (used > room) return lengths;
        lengths[at] = rank + 1;
      }
    }
  }
  return lengths;
}

/** Lines of domains, each with so many of its signatures. A negative length stands for the bare name, or for nothing. */
function assemble(rows: readonly DomainRow[], lengths: readonly number[], isSaid = false): string {
  const lines = rows.map((row, at) => {
    const length = lengths[at]!;
    if (length < 0) return length === -1 ? `- ${row.name}` : "";
    return `${rowText(row, length)}${isSaid && row.says !== undefined ? saying(row.says) : ""}`;
  });
  const shown = lines.filter((line) => line !== "");
  return `${shown.join("\n")}${shown.length < rows.length ? MORE : ""}`;
}

function rowText({ name, count, tools }: DomainRow, length: number): string {
  const named = tools.slice(0, length);
  const others = count - named.length;
  if (count === 0) return `- ${name}`;
  const said = new Set(named.flatMap(({ words }) => words.map(singular)));
  const nouns = tools.slice(length).flatMap(({ noun }) => (noun === "" || said.has(noun) ? [] : noun));
  const frequent = [...Map.groupBy(nouns, (noun) => noun)]
    .sort(([, ones], [, others]) => others.length - ones.length)
    .slice(0, MOST_NOUNS);
  const about = frequent.length > 0 ? ` about ${frequent.map(([noun]) => noun).join(", ")}` : "";
  const list = named.map(({ signature }) => signature).join(", ");
  if (others === 0) return `- ${name}: ${list}`;
  const unnamed =
    length < tools.length ? `${others} more` : countOf(others, "document or prompt", "documents and prompts");
  return `- ${name}: ${list === "" ? countOf(others, "entry", "entries") : `${list} and ${unnamed}`}${about}`;
}

/** The domains that list something, the largest first. `habits` are the routes that the caller has used, most often first. */
export function domainRows(view: View, habits: readonly string[]): DomainRow[] {
  const places = new Map(habits.map((route, place) => [route, place]));
  const entries = entriesByDomain(view.shown);
  return domainsBySize(view).flatMap((name) => {
    const listed = entries.get(name);
    const says = listed && shortInstructions(instructionsOf(view, name));
    return listed ? { ...toRow(name, listed, places, view.principal.allowWrite), ...(says && { says }) } : [];
  });
}

/** The first sentence under the headings. Nothing of a text that tries to steer a model: `help` has it with a warning. */
function shortInstructions(entry: Entry | undefined): string | undefined {
  if (!entry || (entry.origin?.injection ?? detectInjection(entry.description)).length > 0) return undefined;
  const prose = entry.description.replace(/^\s*#.*$/gm, "").trim();
  return toVisibleLine(toSummary(prose, SAYS_CHARS)).replaceAll('"', "'") || undefined;
}

function toRow(
  name: string,
  entries: readonly Entry[],
  habits: ReadonlyMap<string, number>,
  mayWrite: boolean,
): DomainRow {
  const usable = entries.filter((entry) => knownStatus(entry) === undefined);
  const named = usable.filter(({ kind }) => NAMED_KINDS.has(kind));
  const placeOf = ({ route }: Entry) => habits.get(route) ?? habits.size;
  const byUse = habits.size === 0 ? named : named.toSorted((one, other) => placeOf(one) - placeOf(other));
  // The lane of a server's tool needs its whole definition: `npm run bench -- catalog`, "list_ms" of the warm cases.
  const callable = byUse.slice(0, MOST_COMPARED).filter((entry) => mayWrite || entry.lane === "read");
  const worded = callable.flatMap((entry) => {
    const short = entry.op.slice(entry.op.indexOf(".") + 1);
    const words = splitWords(short);
    return words.length === 0 || short.length > MOST_NAME_CHARS ? [] : { entry, short, words };
  });
  const common = commonWords(worded.map(({ words }) => words));
  const domainWords = readDomainWords(worded.map(({ words }) => words));
  const thingsOf = (words: readonly string[]) =>
    splitVerb(words, domainWords).path.filter(
      (word) => !common.has(word) && !effectOfVerb(word) && !NO_THINGS.test(word),
    );
  const used = Math.min(MOST_NAMED, worded.filter(({ entry }) => habits.has(entry.route)).length);
  const tools = mostTelling(worded, used).map(({ entry, short, words }) => {
    const telling = words.filter((word) => !common.has(word));
    const things = [words, telling].map(thingsOf).find(({ length }) => length > 0) ?? [];
    // A noun follows such a word: `long running operation`.
    const length = things[1]?.endsWith("ing") ? 3 : 2;
    const noun = things.slice(0, length).map(singular).join(" ");
    return { signature: toSignature(entry, short), words, noun };
  });
  return { name, count: usable.length, tools, used };
}

/** Words that most names of a domain have, such as `browser`: they tell nothing about one tool. */
function commonWords(names: readonly (readonly string[])[]): ReadonlySet<string> {
  const counts = Map.groupBy(
    names.flatMap((words) => [...new Set(words)]),
    (word) => word,
  );
  return new Set(
    [...counts.keys()].filter((word) => counts.get(word)!.length > Math.max(2, names.length / 2)),
  );
}

/** Behind the `used` first ones, puts those tools that have the most words that no tool before them had. */
function mostTelling<T extends { readonly words: readonly string[] }>(
  tools: readonly T[],
  used: number,
): T[] {
  const waiting = tools.slice(used);
  const chosen = tools.slice(0, used);
  const said = new Set(chosen.flatMap(({ words }) => words));
  while (waiting.length > 0 && chosen.length < MOST_NAMED) {
    const news = waiting.map(({ words }) => words.filter((word) => !said.has(word)).length / words.length);
    const best = news.indexOf(Math.max(...news));
    const [next] = waiting.splice(best, 1);
    for (const word of next!.words) said.add(word);
    chosen.push(next!);
  }
  return [...chosen, ...waiting];
}

/** A tool with its required arguments, and their required fields: a model cannot guess those. */
function toSignature({ kind, inputSchema }: Entry, short: string): string {
  if (kind !== "tool") return short;
  const names = requiredNames(inputSchema);
  const { properties } = inputSchema as { properties?: Readonly<Record<string, unknown>> };
  const args = names.map((name) => {
    const { items, ...schema } = fieldsOf(properties?.[name]);
    const fields = requiredNames(fieldsOf(items ?? schema));
    return fields.length === 0 ? name : `${name}: {${fields.join(", ")}}${items ? "[]" : ""}`;
  });
  return args.length === 0 ? short : `${short}(${args.join(", ")})`;
}

/** The names of required properties. One that could be a sentence is not repeated. */
function requiredNames({ required }: PlainObject): string[] {
  if (!Array.isArray(required)) return [];
  const names = required.filter((name) => PLAIN_ARGUMENT.test(name)).slice(0, MOST_ARGS);
  return names.length < required.length ? [...names, "…"] : names;
}
