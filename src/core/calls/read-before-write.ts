import type { MessageTemplate } from "../../base/problems/format-message.ts";
import { type Problem, problem } from "../../base/problems/problem.ts";
import { crc32 } from "../../base/util/content-hash.ts";
import { lazy } from "../../base/util/lazy.ts";
import { memoizeByObject } from "../../base/util/memoize-by-object.ts";
import { fieldsOf, type PlainObject } from "../../base/util/plain-object.ts";
import { splitWords } from "../../base/util/split-words.ts";
import { toSummary } from "../../base/util/to-summary.ts";
import {
  CHANGING_VERBS,
  CREATING_VERBS,
  effectOfVerb,
  SEARCHING_VERBS,
  SHOWING_VERBS,
} from "../../search/analysis/tool-verbs.ts";
import type { View } from "../access/view.ts";
import { opFromName } from "../catalog/op-name.ts";
import type { Entry } from "../nouns/entry.ts";
import type { WorkingMemory } from "../sessions/working-memory.ts";
import type { CallScope } from "./call-environment.ts";

/** The call that reads the thing that a write changes. */
interface ReadCall {
  readonly op: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** A read that is missing before a call, and whether its domain requires it. */
export interface MissingRead {
  readonly read: ReadCall;
  /** Required arguments of the read that the call lacks. Empty unless the domain requires the read. */
  readonly lacks: readonly string[];
  readonly refuses: boolean;
}

type CallArgs = Readonly<Record<string, unknown>>;

/** Verbs that change a thing or create one. */
const WRITING_VERBS: ReadonlySet<string> = new Set([
  "write",
  "put",
  "set",
  "save",
  "store",
  "upload",
  "upsert",
]);
const SEARCH_FIELDS = ["search", "query", "q", "text", "keyword", "keywords", "title", "name"];
const TITLE_FIELDS = ["title", "name", "subject", "summary", "label", "text"];
const TITLE_CHARS = 120;
const MARK_CHARS = 24;

/**
 * The read that should come before a call: of the thing before it is changed or deleted or, in domains that ask for it,
 * a search for similar things before one is created. Undefined if this session made it, or if no such read exists whose
 * arguments are all known.
 */
export function missingRead(
  entry: Entry,
  args: CallArgs,
  { view, session }: Pick<CallScope, "view" | "session">,
): MissingRead | undefined {
  const { readBeforeWrite } = view.domains.get(entry.domain) ?? {};
  if (!session || entry.kind !== "tool" || entry.lane === "read" || readBeforeWrite === "off")
    return undefined;
  const verb = verbOf(entry);
  const isCreate = CREATING_VERBS.includes(verb);
  // A written file may be new.
  const mayCreate = readBeforeWrite === undefined && WRITING_VERBS.has(verb);
  const isChange = !isCreate && !mayCreate && (entry.lane === "destructive" || CHANGING_VERBS.includes(verb));
  // A new thing cannot be read, unless the domain wants no duplicates.
  if (isCreate ? readBeforeWrite === undefined : !isChange || onlyReads(entry)) return undefined;
  const reads = readsNear(entry, view);
  const subject = isChange ? subjectOf(entry, args) : undefined;
  // A call that names nothing, such as the close of a browser, is about no thing that could be read.
  if (isChange && !subject && readBeforeWrite === undefined) return undefined;
  if (reads.length === 0 || wasRead(subject, reads, session.memory)) return undefined;
  const calls = [
    ...(subject ? readsOf(reads, subject.key, args) : []),
    ...byVerb(reads, SEARCHING_VERBS).map((read) => searchOf(read, args)),
  ];
  const refuses = readBeforeWrite === "refuse";
  const missing = calls.find(({ lacks }) => lacks.length === 0) ?? (refuses ? calls[0] : undefined);
  return missing && { ...missing, refuses };
}

/** Whether the name has only words of a search, whatever lane the server's hints imply. */
function onlyReads(entry: Entry): boolean {
  const words = splitWords(pathOf(entry).split(".").at(-1) ?? "");
  const isReading = [...SEARCHING_VERBS, ...SHOWING_VERBS].includes(words[0] ?? "");
  return isReading && words.every((word) => ["read", "unclear", undefined].includes(effectOfVerb(word)));
}

function wasRead(subject: Subject | undefined, reads: readonly Entry[], memory: WorkingMemory): boolean {
  if (subject) {
    const marks = new Set(memory.read);
    return subject.values.some((id) => marks.has(toMark(id)));
  }
  const used = new Set(memory.usedTools.flatMap((use) => (use.lastResult === "success" ? use.name : [])));
  return reads.some(({ op }) => used.has(op));
}

/** Marks of the things that a run showed: ids in its result, and ids in the args of a read. */
export function marksOf({ lane }: Entry, args: unknown, result: unknown): string[] {
  return [...(lane === "read" ? idsIn(args) : []), ...idsIn(result)].map(toMark);
}

/** Long ids are stored as a hash. */
function toMark(id: string): string {
  return id.length <= MARK_CHARS ? id : crc32(id).toString(36);
}

/** Warns about a missing read, before or after the call. A deleted thing cannot be read any more. */
export function readWarning(
  entry: Entry,
  { read }: MissingRead,
  hasRun: boolean,
): MessageTemplate | undefined {
  const [dont] = (entry.kind === "tool" && entry.policy?.dont) || [];
  if (hasRun && entry.lane === "destructive") return undefined;
  return {
    sentences: [
      "{name} was not preceded by a read of the same thing in this session.",
      hasRun ? "Check what it changed: {op} {args}." : "Read first: {op} {args}.",
      ...(dont ? ["Its policy says do not: {dont}."] : []),
    ],
    fills: { name: entry.op, op: read.op, args: JSON.stringify(read.args), dont: dont ?? "" },
  };
}

/** Refuses a call whose domain requires the read. */
export function readRefusal(entry: Entry, { read, lacks }: MissingRead): Problem {
  const call =
    lacks.length > 0
      ? `${read.op}, which needs ${lacks.join(", ")}`
      : `${read.op} ${JSON.stringify(read.args)}`;
  const reason = `${entry.op} did not run, because this session has not read the same thing. Read first: ${call}.`;
  return problem("CONFLICT", { reason }, { read });
}

/** Domain, entity and verb: the op, or the op that the plain name of an imported tool implies. */
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

/** Reads in the entry's own group, then in the surrounding groups, nearest first. */
function readsNear(entry: Entry, view: View): Entry[] {
  const group = groupOf(entry);
  const isNear = (other: Entry) => {
    if (other.kind !== "tool" || other.lane !== "read" || isDeprecated(other)) return false;
    const around = groupOf(other);
    return around === group || group.startsWith(`${around}.`);
  };
  return view.shown.filter(isNear).sort((left, right) => groupOf(right).length - groupOf(left).length);
}

function isDeprecated({ description }: Entry): boolean {
  return /^deprecated\b/i.test(toSummary(description));
}

interface Subject {
  readonly key: string;
  readonly values: readonly string[];
}

/** The argument that identifies the changed thing: the id of the entity in the op, or the only id. */
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

type PossibleRead = Pick<MissingRead, "read" | "lacks">;

/** The reads that take the id of the subject. Reads of one thing come first. */
function readsOf(reads: readonly Entry[], key: string, args: CallArgs): PossibleRead[] {
  const takers = reads.filter((read) => Object.hasOwn(propertiesOf(read), key));
  return byVerb(takers, SHOWING_VERBS).map((read) => toRead(read, { [key]: args[key] }, args));
}

function searchOf(read: Entry, args: CallArgs): PossibleRead {
  const properties = propertiesOf(read);
  const field = SEARCH_FIELDS.find((name) => Object.hasOwn(properties, name));
  const title = TITLE_FIELDS.map((name) => args[name]).find((value) => typeof value === "string");
  return toRead(read, field && title ? { [field]: String(title).slice(0, TITLE_CHARS) } : {}, args);
}

/** Takes the required arguments of a read from those of the write. */
function toRead(read: Entry, fills: CallArgs, args: CallArgs): PossibleRead {
  const { required = [] } = read.inputSchema as { readonly required?: readonly string[] };
  const missing = required.filter((name) => !Object.hasOwn(fills, name));
  const shared = missing.filter((name) => Object.hasOwn(args, name));
  return {
    read: {
      op: read.op,
      args: { ...fills, ...Object.fromEntries(shared.map((name) => [name, args[name]])) },
    },
    lacks: missing.filter((name) => !shared.includes(name)),
  };
}

/** Entries with one of these verbs, by distance of the group, then by order of the verbs. */
function byVerb(reads: readonly Entry[], verbs: readonly string[]): Entry[] {
  const positionOf = (entry: Entry) => verbs.indexOf(verbOf(entry));
  const worded = reads
    .filter((entry) => positionOf(entry) >= 0)
    .sort(
      (left, right) => groupOf(right).length - groupOf(left).length || positionOf(left) - positionOf(right),
    );
  return [...worded, ...reads.filter((entry) => positionOf(entry) < 0)];
}

function propertiesOf({ inputSchema }: Entry): PlainObject {
  return fieldsOf(inputSchema.properties);
}

const MOST_IDS = 200;
const MOST_VALUES = 5_000;
const ID_CHARS = 256;
const TEXT_CHARS = 20_000;
/** Names of fields that identify a thing: `id`, `task_id`, `taskId`, `issue_ids`, `number`, `path` and the like. */
const ID_FIELD = /(?:^|_)(?:ids?|uuids?|guid|key|slug|number|path|uri|url)$|[a-z](?:Ids?|Uuid)$/i;
/** Words that look like an id because they have a digit. */
const idWord = lazy(() => /[\p{L}\p{N}_:.-]{0,64}\d[\p{L}\p{N}_:.-]{0,64}/gu);

interface IdField {
  readonly name: string;
  readonly value: unknown;
}

/** Collects the identifying values of a JSON value, and the words of a text that look like ids. */
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
