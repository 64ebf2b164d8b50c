import type { View } from "../access/view.ts";
import { opFromName } from "../catalog/op-name.ts";
import type { Entry } from "../schema/entry.ts";
import { type Problem, problem } from "../schema/problem.ts";
import type { Saying } from "../schema/say.ts";
import type { WorkingMemory } from "../session/working-memory.ts";
import { crc32 } from "../util/crc32.ts";
import { idsIn } from "../util/ids-in.ts";
import { oncePer } from "../util/once-per.ts";
import { splitWords } from "../util/split-words.ts";

/** The call that reads what a write is about. */
export interface MissingRead {
  readonly op: string;
  readonly args: Readonly<Record<string, unknown>>;
}

type Args = Readonly<Record<string, unknown>>;

const CREATES = new Set(["create", "add", "new", "insert", "register"]);
const CHANGES = new Set("update edit patch change modify rename move replace archive upsert".split(" "));
const LOOKS_AROUND = ["search", "find", "query", "list", "browse"];
const LOOKS_AT = ["get", "read", "show", "fetch", "view", "describe"];
const SEARCH_FIELDS = ["search", "query", "q", "text", "keyword", "keywords", "title", "name"];
const TITLE_FIELDS = ["title", "name", "subject", "summary", "label", "text"];
const TITLE_CHARS = 120;
const MARK_CHARS = 24;

/**
 * The read that should have come before a call: a search for the same kind of thing before it is created, the thing
 * itself before it is changed or deleted. Undefined if it was made in this session, or no such read exists.
 */
export function missingRead(
  entry: Entry,
  args: Args,
  view: View,
  memory: WorkingMemory,
): MissingRead | undefined {
  if (entry.kind !== "tool" || entry.lane === "read") return undefined;
  const verb = verbOf(entry);
  const isChange = entry.lane === "destructive" || CHANGES.has(verb);
  if (!isChange && !CREATES.has(verb)) return undefined;
  const reads = readsNear(entry, view);
  if (reads.length === 0) return undefined;
  const subject = isChange ? subjectOf(entry, args) : undefined;
  if (subject) {
    const known = new Set(memory.read);
    if (subject.values.some((id) => known.has(toMark(id)))) return undefined;
    return readOf(reads, subject.key, args) ?? searchOf(reads, args);
  }
  const used = new Set(memory.usedTools.flatMap((use) => (use.lastResult === "success" ? use.name : [])));
  return reads.some(({ op }) => used.has(op)) ? undefined : searchOf(reads, args);
}

/** Marks of the things that a run has shown: by ids in its result, and in the args of a read. */
export function marksOf({ lane }: Entry, args: unknown, result: unknown): string[] {
  return [...(lane === "read" ? idsIn(args) : []), ...idsIn(result)].map(toMark);
}

/** Long ids are known again by their hash. */
function toMark(id: string): string {
  return id.length <= MARK_CHARS ? id : crc32(id).toString(36);
}

/** Warns about a call without the read: before it runs, or after. */
export function readWarning(entry: Entry, { op, args }: MissingRead, hasRun: boolean): Saying {
  const [dont] = (entry.kind === "tool" && entry.policy?.dont) || [];
  return {
    sentences: [
      "{name} was not preceded by a read of the same thing in this session.",
      hasRun ? "Check what it changed: {op} {args}." : "Read first: {op} {args}.",
      ...(dont ? ["Its policy says do not: {dont}."] : []),
    ],
    fills: { name: entry.op, op, args: JSON.stringify(args), dont },
  };
}

/** Refuses a call of a domain that insists on the read. */
export function readRefusal(entry: Entry, read: MissingRead): Problem {
  const call = `${read.op} ${JSON.stringify(read.args)}`;
  const reason = `${entry.op} did not run, because this session has not read the same thing. Read first: ${call}.`;
  return problem("CONFLICT", { reason }, { read });
}

/** Domain, entity and verb: the op itself, or the op that the plain name of an imported tool implies. */
const pathOf = oncePer(({ op, domain }: Entry): string => {
  const [, name = "", ...rest] = op.split(".");
  return (rest.length === 0 && opFromName(name, domain)) || op;
});

function verbOf(entry: Entry): string {
  return splitWords(pathOf(entry).split(".").at(-1) ?? "")[0] ?? "";
}

function groupOf(entry: Entry): string {
  const path = pathOf(entry);
  return path.slice(0, path.lastIndexOf("."));
}

/** Reads of the entry's own group, then those of the groups around it, nearest first. */
function readsNear(entry: Entry, view: View): Entry[] {
  const group = groupOf(entry);
  const isNear = (other: Entry) => {
    if (other.kind !== "tool" || other.lane !== "read") return false;
    const around = groupOf(other);
    return around === group || group.startsWith(`${around}.`);
  };
  return view.shown.filter(isNear).sort((left, right) => groupOf(right).length - groupOf(left).length);
}

interface Subject {
  readonly key: string;
  readonly values: readonly string[];
}

/** The argument that says which thing is changed: the id of the entity in the op, or the only id there is. */
function subjectOf(entry: Entry, args: Args): Subject | undefined {
  const ids = Object.entries(args)
    .map(([key, value]) => ({ key, values: idsIn({ [key]: value }) }))
    .filter(({ values }) => values.length > 0);
  const entities = groupOf(entry).split(".").slice(1).reverse();
  for (const entity of entities) {
    const own = ids.find(({ key }) => splitWords(key)[0] === entity && splitWords(key).length <= 2);
    if (own) return own;
  }
  return ids.find(({ key }) => key === "id") ?? ids[0];
}

function readOf(reads: readonly Entry[], key: string, args: Args): MissingRead | undefined {
  const takes = (read: Entry) => Object.hasOwn(propertiesOf(read), key);
  const read = byVerb(reads.filter(takes), LOOKS_AT) ?? reads.find(takes);
  return read && { op: read.op, args: { [key]: args[key] } };
}

function searchOf(reads: readonly Entry[], args: Args): MissingRead {
  const read = byVerb(reads, LOOKS_AROUND) ?? reads[0]!;
  const properties = propertiesOf(read);
  const field = SEARCH_FIELDS.find((name) => Object.hasOwn(properties, name));
  const title = TITLE_FIELDS.map((name) => args[name]).find((value) => typeof value === "string");
  const searched = field && title ? { [field]: String(title).slice(0, TITLE_CHARS) } : {};
  const { required = [] } = read.inputSchema as { readonly required?: readonly string[] };
  const shared = required.filter((name) => name !== field && Object.hasOwn(args, name));
  return {
    op: read.op,
    args: { ...searched, ...Object.fromEntries(shared.map((name) => [name, args[name]])) },
  };
}

/** The first entry whose verb is earliest in the list, within the nearest group that has one. */
function byVerb(reads: readonly Entry[], verbs: readonly string[]): Entry | undefined {
  for (const near of Map.groupBy(reads, groupOf).values()) {
    for (const verb of verbs) {
      const read = near.find((entry) => verbOf(entry) === verb);
      if (read) return read;
    }
  }
  return undefined;
}

function propertiesOf({ inputSchema }: Entry): object {
  const { properties } = inputSchema as { readonly properties?: unknown };
  return typeof properties === "object" && properties !== null ? properties : {};
}
