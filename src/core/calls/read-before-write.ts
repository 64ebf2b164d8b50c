import type { MessageTemplate } from "../../base/problems/format-message.ts";
import { type Problem, problem } from "../../base/problems/problem.ts";
import { crc32 } from "../../base/util/content-hash.ts";
import { lazy } from "../../base/util/lazy.ts";
import { memoizeByObject } from "../../base/util/memoize-by-object.ts";
import { fieldsOf, type PlainObject } from "../../base/util/plain-object.ts";
import { splitWords } from "../../base/util/split-words.ts";
import {
  CHANGING_VERBS,
  CREATING_VERBS,
  SEARCHING_VERBS,
  SHOWING_VERBS,
} from "../../search/analysis/tool-verbs.ts";
import type { View } from "../access/view.ts";
import { opFromName } from "../catalog/op-name.ts";
import type { Entry } from "../nouns/entry.ts";
import type { WorkingMemory } from "../sessions/working-memory.ts";
import type { CallScope } from "./call-environment.ts";

/** The call that reads what a write is about. */
interface ReadCall {
  readonly op: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** The read that a call lacks, and whether its domain insists on it. */
export interface MissingRead {
  readonly read: ReadCall;
  readonly refuses: boolean;
}

type CallArgs = Readonly<Record<string, unknown>>;

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
  args: CallArgs,
  { view, session }: Pick<CallScope, "view" | "session">,
): MissingRead | undefined {
  const { readBeforeWrite = "warn" } = view.domains.get(entry.domain) ?? {};
  if (!session || entry.kind !== "tool" || entry.lane === "read" || readBeforeWrite === "off")
    return undefined;
  const verb = verbOf(entry);
  const isChange = entry.lane === "destructive" || CHANGING_VERBS.includes(verb);
  if (!isChange && !CREATING_VERBS.includes(verb)) return undefined;
  const reads = readsNear(entry, view);
  const subject = isChange ? subjectOf(entry, args) : undefined;
  if (reads.length === 0 || wasRead(subject, reads, session.memory)) return undefined;
  const read = (subject && readOf(reads, subject.key, args)) ?? searchOf(reads, args);
  return { read, refuses: readBeforeWrite === "refuse" };
}

function wasRead(subject: Subject | undefined, reads: readonly Entry[], memory: WorkingMemory): boolean {
  if (subject) {
    const marks = new Set(memory.read);
    return subject.values.some((id) => marks.has(toMark(id)));
  }
  const used = new Set(memory.usedTools.flatMap((use) => (use.lastResult === "success" ? use.name : [])));
  return reads.some(({ op }) => used.has(op));
}

/** Marks of the things that a run has shown: by ids in its result, and in the args of a read. */
export function marksOf({ lane }: Entry, args: unknown, result: unknown): string[] {
  return [...(lane === "read" ? idsIn(args) : []), ...idsIn(result)].map(toMark);
}

/** Long ids are remembered as a hash. */
function toMark(id: string): string {
  return id.length <= MARK_CHARS ? id : crc32(id).toString(36);
}

/** Warns about a call without the read: before it runs, or after. */
export function readWarning(entry: Entry, { read }: MissingRead, hasRun: boolean): MessageTemplate {
  const [dont] = (entry.kind === "tool" && entry.policy?.dont) || [];
  return {
    sentences: [
      "{name} was not preceded by a read of the same thing in this session.",
      hasRun ? "Check what it changed: {op} {args}." : "Read first: {op} {args}.",
      ...(dont ? ["Its policy says do not: {dont}."] : []),
    ],
    fills: { name: entry.op, op: read.op, args: JSON.stringify(read.args), dont: dont ?? "" },
  };
}

/** Refuses a call of a domain that insists on the read. */
export function readRefusal(entry: Entry, { read }: MissingRead): Problem {
  const call = `${read.op} ${JSON.stringify(read.args)}`;
  const reason = `${entry.op} did not run, because this session has not read the same thing. Read first: ${call}.`;
  return problem("CONFLICT", { reason }, { read });
}

/** Domain, entity and verb: the op itself, or the op that the plain name of an imported tool implies. */
const pathOf = memoizeByObject(({ op, domain }: Entry): string => {
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
function subjectOf(entry: Entry, args: CallArgs): Subject | undefined {
  const ids = Object.entries(args)
    .map(([key, value]) => ({ key, values: idsIn({ [key]: value }) }))
    .filter(({ values }) => values.length > 0);
  const isIdOf = (entity: string) => (id: Subject) => {
    const words = splitWords(id.key);
    return words[0] === entity && words.length <= 2;
  };
  const entities = groupOf(entry).split(".").slice(1).reverse();
  const [named] = entities.flatMap((entity) => ids.find(isIdOf(entity)) ?? []);
  return named ?? ids.find(({ key }) => key === "id") ?? ids[0];
}

function readOf(reads: readonly Entry[], key: string, args: CallArgs): ReadCall | undefined {
  const takes = (read: Entry) => Object.hasOwn(propertiesOf(read), key);
  const read = byVerb(reads.filter(takes), SHOWING_VERBS) ?? reads.find(takes);
  return read && { op: read.op, args: { [key]: args[key] } };
}

function searchOf(reads: readonly Entry[], args: CallArgs): ReadCall {
  const read = byVerb(reads, SEARCHING_VERBS) ?? reads[0]!;
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
  const placeOf = (entry: Entry) => verbs.indexOf(verbOf(entry));
  const worded = reads.filter((entry) => placeOf(entry) >= 0);
  const near = worded.filter((entry) => groupOf(entry) === groupOf(worded[0]!));
  return near.sort((one, other) => placeOf(one) - placeOf(other))[0];
}

function propertiesOf({ inputSchema }: Entry): PlainObject {
  return fieldsOf(inputSchema.properties);
}

const MOST_IDS = 200;
const MOST_VALUES = 5_000;
const ID_CHARS = 256;
const TEXT_CHARS = 20_000;
/** Fields that identify a thing: `id`, `task_id`, `taskId`, `issue_ids`, `number`, `path` and the like. */
const ID_FIELD = /(?:^|_)(?:ids?|uuids?|guid|key|slug|number|path|uri|url)$|[a-z](?:Ids?|Uuid)$/i;
/** Words of a text that look like an id, because they have a digit. */
const idWord = lazy(() => /[\p{L}\p{N}_:.-]{0,64}\d[\p{L}\p{N}_:.-]{0,64}/gu);

interface IdField {
  readonly name: string;
  readonly value: unknown;
}

/** Collects the values that identify things in a JSON value, and the words of a text that look like ids. */
export function idsIn(value: unknown): string[] {
  const ids = new Set<string>();
  const fields: IdField[] = [{ name: "", value }];
  for (let at = 0; at < fields.length && ids.size < MOST_IDS; at++) {
    const field = fields[at]!;
    if (isId(field)) ids.add(String(field.value));
    else if (typeof field.value === "string" && field.name === "") addWords(field.value, ids);
    else addFields(field, fields);
  }
  return [...ids];
}

function isId({ name, value }: IdField): boolean {
  if (!ID_FIELD.test(name)) return false;
  if (typeof value === "number") return Number.isFinite(value);
  return typeof value === "string" && value !== "" && value.length <= ID_CHARS;
}

/** Items of a list count as the field itself. */
function addFields({ name, value }: IdField, fields: IdField[]): void {
  if (typeof value !== "object" || value === null) return;
  const isList = Array.isArray(value);
  for (const key in value) {
    if (fields.length >= MOST_VALUES) return;
    fields.push({ name: isList ? name : key, value: (value as Readonly<Record<string, unknown>>)[key] });
  }
}

function addWords(text: string, ids: Set<string>): void {
  for (const [word] of text.slice(0, TEXT_CHARS).matchAll(idWord())) {
    if (ids.size >= MOST_IDS) return;
    ids.add(word.replace(/[.:-]{1,64}$/, ""));
  }
}
