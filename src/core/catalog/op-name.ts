import { splitWords } from "../../base/util/split-words.ts";
import { effectOfVerb, THINGS } from "../../search/analysis/tool-verbs.ts";
import { opToRoute } from "./route.ts";

/** An op derived from a name, and the further addresses of its tool. */
export interface DerivedOp {
  readonly op: string;
  /** The author's name and every other op that any derivation gives or gave it, as ops and as routes. */
  readonly addresses: readonly string[];
}

/** The op that one name implies, before a comparison with other names of the domain. */
export interface ImpliedOp {
  readonly op: string;
  /** The op to use if another tool has `op` too. */
  readonly plain: string;
  readonly further: readonly string[];
}

/**
 * Derives the ops of a domain from the names of its tools: `list_onto_tasks` in domain `onto` is `onto.task.list`. The
 * verb goes last; the domain's name and fillers are dropped; the other words are the path from entity to part. The
 * order of the names does not matter. A name without words has no op.
 */
export function opsFromNames(
  names: readonly string[],
  domain: string,
  taken: ReadonlySet<string> = new Set(),
): Map<string, DerivedOp> {
  const ownWords = new Set(splitWords(domain));
  const worded = [...new Set(names)]
    .map((name) => ({ name, words: tellingWords(splitWords(name), ownWords) }))
    .filter(({ words }) => words.length > 0);
  const domainWords = readDomainWords(worded.map(({ words }) => words));
  const toOp = ({ path, verb }: SplitName) => [domain, ...path, verb].join(".");
  const implied = worded.map(({ name, words }) => ({
    op: toOp(splitVerb(words, domainWords)),
    plain: `${domain}.${words.join("_")}`,
    further: [...spellings(words).map(toOp), ...(PLAIN_NAME.test(name) ? [`${domain}.${name}`] : [])],
  }));
  const ops = uniqueOps(implied, domain, taken);
  return new Map(worded.map(({ name }, at) => [name, ops[at]!]));
}

const PLAIN_NAME = /^[A-Za-z0-9_-]{1,128}$/;

/** The op of a name whose domain has no other tools. Undefined for a name without words. */
export function opFromName(name: string, domain: string): string | undefined {
  return opsFromNames([name], domain).get(name)?.op;
}

/** Gives every tool a unique op. An address that fits two tools means neither. */
export function uniqueOps(
  implied: readonly ImpliedOp[],
  domain: string,
  taken: ReadonlySet<string>,
): DerivedOp[] {
  const sharing = countOf(implied.flatMap(({ op, plain }) => [...new Set([op, plain])]));
  const ops = implied.map(({ op, plain }) => (sharing.get(op) === 1 && !taken.has(op) ? op : plain));
  const inUse = new Set([...taken, ...ops]);
  const further = implied.map((each) => [...new Set([each.op, each.plain, ...each.further])]);
  const meanings = countOf(further.flat());
  return ops.map((op, at) => ({
    op,
    addresses: further[at]!.filter((address) => !inUse.has(address) && meanings.get(address) === 1).flatMap(
      (address) => [address, opToRoute(address, domain) ?? []].flat(),
    ),
  }));
}

function countOf(values: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

/** Drops the domain's own name: always in front, elsewhere only if another word remains. */
export function tellingWords(words: readonly string[], own: ReadonlySet<string>): string[] {
  const start = words.findIndex((word) => !own.has(word));
  const remaining = words.slice(Math.max(0, start));
  const telling = remaining.filter((word) => !own.has(word));
  return telling.length > 1 ? telling : remaining;
}

/** A name in two parts. */
export interface SplitName {
  /** The verb with its clause (`find_by_status`), or the whole name if it has no verb. */
  readonly verb: string;
  /** From entity to part. Empty if the name has no verb. */
  readonly path: readonly string[];
}

/** Nouns (in the singular) and verbs in the names of one domain. */
export interface DomainWords {
  /** Objects of common verbs: `order` in `get_order`. */
  readonly objects: ReadonlySet<string>;
  /** Nouns before common verbs: `task` in `task_create`. */
  readonly leaders: ReadonlySet<string>;
  /** First words before a noun, or before a word that also follows other first words: `ship` in `ship_order`. */
  readonly verbs: ReadonlySet<string>;
  /** First words of several names: `browser` in `browser_click`. */
  readonly groups: ReadonlySet<string>;
}

const FILLERS = new Set(["in", "of", "to", "from", "for", "with", "by", "on", "the", "a", "an"]);
/** Words that begin a clause after the verb. */
const CLAUSES = new Set(["by", "with"]);
/** Verbs with a plural object, which the op has in the singular. */
const COLLECTIVE_VERBS = new Set(["list", "search"]);
/**
 * Words that are never objects: aspects of the noun before them (`server_status`), and parts of a verb (`file_away`).
 */
const NO_OBJECTS = new Set([
  ..."status state info details data stats summary history version health price rate forecast time date".split(
    " ",
  ),
  ..."away up out off down back over all now".split(" "),
]);
const NOT_A_NOUN = /(?:ing|ed|ly)$|^\d/;
const NOT_A_VERB = /(?:ing|ed|ly|al|ous|ic|[st]ion|ment|ness|ity|ful|able)$|^\d/;

/**
 * Sorts the words of a domain's names into nouns and verbs, from a table of verbs and the nouns that the caller knows.
 * Two names without a common word do not influence each other.
 */
export function readDomainWords(
  names: readonly (readonly string[])[],
  nouns: Iterable<string> = [],
): DomainWords {
  const longer = names.filter(({ length }) => length > 1);
  const objects = objectsOf(longer);
  for (const noun of nouns) if (!effectOfVerb(noun)) objects.add(singular(noun));
  const led = longer.filter(
    (words) => !isVerb(words[0]!, objects) && (endsWithVerb(words, objects) || hasInnerVerb(words, objects)),
  );
  const leaders = new Set(led.map(([first = ""]) => singular(first)));
  const pairs = longer.flatMap(([first = "", ...others]) => {
    const [next] = objectOf(others);
    return next === undefined || NO_OBJECTS.has(next) ? [] : { first, next };
  });
  const firsts = new Map<string, Set<string>>();
  for (const { first, next } of pairs) addTo(firsts, singular(next), first);
  const verbs = pairs.filter(({ first, next }) => {
    const isShared = firsts.get(singular(next))!.size > 1;
    return !isNoun(first, objects, leaders) && (isShared || isNoun(next, objects, leaders));
  });
  const begins = Map.groupBy(longer, ([first = ""]) => first);
  const groups = [...begins].filter(([, { length }]) => length > 1);
  return {
    objects,
    leaders,
    verbs: new Set(verbs.map(({ first }) => first)),
    groups: new Set(groups.map(([first]) => first)),
  };
}

function addTo(sets: Map<string, Set<string>>, key: string, value: string): void {
  sets.set(key, (sets.get(key) ?? new Set()).add(value));
}

/** A verb of the table that is also an object is a noun only if two verbs have it as object: `get_run`, `list_runs`. */
function objectsOf(names: readonly (readonly string[])[]): Set<string> {
  const verbsOf = new Map<string, Set<string>>();
  for (const [verb = "", ...others] of names) {
    if (!effectOfVerb(verb) || THINGS.has(verb)) continue;
    for (const word of objectOf(others)) addTo(verbsOf, singular(word), verb);
  }
  const isObject = ([word, verbs]: readonly [string, Set<string>]) => verbs.size > 1 || !effectOfVerb(word);
  return new Set([...verbsOf].filter(isObject).map(([word]) => word));
}

/** Splits a name at its verb: a verb of the table, else one of the domain's words, else by position. */
export function splitVerb(words: readonly string[], domain: DomainWords): SplitName {
  const { objects, leaders, verbs, groups } = domain;
  const [first = "", ...others] = words;
  const [next] = objectOf(others);
  if (next === undefined) return { verb: words.join("_"), path: [] };
  const leads = leaders.has(singular(first));
  if (effectOfVerb(first) && !leads) return verbFirst(words);
  if (endsWithVerb(words, objects)) return verbAtEnd(words);
  if (hasInnerVerb(words, objects)) {
    const inner = splitVerb(others, domain);
    return { ...inner, path: [first, ...inner.path] };
  }
  if (leads || isNoun(first, objects, leaders)) return verbAtEnd(words);
  const hasNoun = objectOf(others).some((word) => isNoun(word, objects, leaders));
  if (hasNoun || verbs.has(first)) return verbFirst(words);
  if (groups.has(first)) return { verb: others.join("_"), path: [first] };
  const isPhrase = NOT_A_VERB.test(first) || NOT_A_NOUN.test(next) || NO_OBJECTS.has(next);
  return isPhrase ? { verb: words.join("_"), path: [] } : verbFirst(words);
}

/** Every way to split a name: an op stays an address when other names of its domain change the split. */
export function spellings(words: readonly string[]): SplitName[] {
  const [first = "", ...others] = words;
  if (objectOf(others).length === 0) return [];
  const path = nounPath(
    others.filter((word) => !FILLERS.has(word)),
    first,
  );
  const grouped = { verb: others.join("_"), path: [first] };
  const short = [verbFirst(words), verbAtEnd(words), { verb: first, path }, grouped];
  if (others.length === 1) return short;
  const inner = verbFirst(others);
  return [...short, { verb: inner.verb, path: [first, ...inner.path] }];
}

/** `get_order_items` is `order.items.get`; `find_pets_by_status` is `pets.find_by_status`. */
function verbFirst([first = "", ...others]: readonly string[]): SplitName {
  const at = others.findIndex((word) => CLAUSES.has(word));
  const clause = at < 0 ? [] : others.slice(at);
  const path = others.slice(0, others.length - clause.length).filter((word) => !FILLERS.has(word));
  const verb = [first, ...clause].join("_");
  return { verb, path: clause.length > 0 ? path : nounPath(path, first) };
}

function verbAtEnd(words: readonly string[]): SplitName {
  return { verb: words.at(-1) ?? "", path: words.slice(0, -1).filter((word) => !FILLERS.has(word)) };
}

function endsWithVerb(words: readonly string[], objects: ReadonlySet<string>): boolean {
  return isVerb(words.at(-1) ?? "", objects);
}

/** `order_get_items` has its verb in the middle. */
function hasInnerVerb(words: readonly string[], objects: ReadonlySet<string>): boolean {
  return words.length > 2 && isVerb(words[1]!, objects);
}

function isVerb(word: string, objects: ReadonlySet<string>): boolean {
  return effectOfVerb(word) !== undefined && !THINGS.has(word) && !objects.has(word);
}

/** Words between the verb and a clause. */
function objectOf(others: readonly string[]): readonly string[] {
  const start = others.findIndex((word) => !FILLERS.has(word));
  const object = start < 0 ? [] : others.slice(start);
  const end = object.findIndex((word) => FILLERS.has(word));
  return end < 0 ? object : object.slice(0, end);
}

function isNoun(word: string, objects: ReadonlySet<string>, leaders: ReadonlySet<string>): boolean {
  if (NO_OBJECTS.has(word)) return false;
  const noun = singular(word);
  return noun !== word || THINGS.has(noun) || objects.has(noun) || leaders.has(noun);
}

function nounPath(path: readonly string[], verb: string): readonly string[] {
  if (verb === "get" && path.length > 1 && path.at(-1) === "details") return path.slice(0, -1);
  if (!COLLECTIVE_VERBS.has(verb)) return path;
  return [...path.slice(0, -1), singular(path.at(-1) ?? "")];
}

/** `entries` is `entry`, `statuses` is `status`. A singular word stays as it is. */
export function singular(word: string): string {
  if (/[^aeiou]ies$/.test(word)) return `${word.slice(0, -3)}y`;
  if (/(ss|tus|x|z|ch|sh)es$/.test(word)) return word.slice(0, -2);
  if (/[^sui]s$/.test(word)) return word.slice(0, -1);
  return word;
}
