import { cutText } from "../../base/util/cut-text.ts";
import { field, listOf, textOf } from "../../base/util/plain-object.ts";
import { splitWords } from "../../base/util/split-words.ts";
import {
  type DerivedOp,
  readDomainWords,
  type SplitName,
  singular,
  spellings,
  splitVerb,
  tellingWords,
  uniqueOps,
} from "../../core/catalog/op-name.ts";
import { laneOfTool } from "../../core/catalog/tool-lane.ts";
import { BARE_ENTRY } from "../../core/nouns/bare-entry.ts";
import type { EntryDraft, Lane } from "../../core/nouns/entry.ts";
import type { ApiClient } from "./api-client.ts";
import { templateRefusal } from "./build-request.ts";
import type { DeclaredParameter } from "./declared-input.ts";
import { serverUrl, Unusable } from "./load-document.ts";
import type { ApiInput, FoundOperation, OperationPlan } from "./operation-plan.ts";
import { readInput } from "./read-input.ts";

/** The parts of a source that its tools share. */
export interface DraftContext {
  readonly label: string;
  readonly root: unknown;
  readonly client: ApiClient;
  /** The document's own server. Operations of another origin are refused. */
  readonly server: URL | undefined;
  readonly timeoutMs: number;
  readonly isSupplied: (parameter: Pick<DeclaredParameter, "place" | "name">) => boolean;
}

const DESCRIPTION_CHARS = 2_048;
const PHRASE_CHARS = 200;
const TITLE_CHARS = 80;

/** Turns an operation into a tool. An unusable operation is listed with the reason. */
export function toDraft(
  found: FoundOperation,
  { op, addresses }: DerivedOp,
  context: DraftContext,
): EntryDraft {
  const { method, path, operation, tags } = found;
  const name = found.operationId ?? `${method} ${path}`;
  const summary = textOf(field(operation, "summary"));
  const title = summary && isTitle(summary) ? summary : undefined;
  const isDeprecated = field(operation, "deprecated") === true;
  const read = readOrRefuse(found, context);
  const input = "reason" in read ? NO_INPUT : read;
  const plan: OperationPlan = { method, path, ...input };
  return {
    ...BARE_ENTRY,
    kind: "tool",
    op,
    addresses,
    domain: context.label,
    name,
    description: describe(found, summary, isDeprecated),
    lane: laneOf(found, input),
    requiresConfirmation: false,
    ...(tags[0] !== undefined && { category: tags[0] }),
    tags,
    aliases: title ? [title] : [],
    phrases: [...new Set([...(summary && !title ? [summary] : []), ...tags])].map((phrase) =>
      cutText(phrase, PHRASE_CHARS),
    ),
    examples: input.examples,
    notes: [...(isDeprecated ? ["Deprecated: look for what replaces it."] : []), ...input.notes],
    inputSchema: input.inputSchema,
    content: `${method} ${path}`,
    metadata: { method, path },
    extraction: null,
    timeoutMs: context.timeoutMs,
    outside: true,
    ...("reason" in read && { status: { state: "invalid" as const, reason: `${read.reason}.` } }),
    call: (params, call) => context.client.call(plan, op, params, call),
    dryRun: async (params) => context.client.preview(plan, op, params),
  };
}

const NO_INPUT: ApiInput = {
  parameters: [],
  inputSchema: { type: "object", properties: {} },
  notes: [],
  examples: [],
};

function readOrRefuse(
  located: FoundOperation,
  context: DraftContext,
): ApiInput | { readonly reason: string } {
  const reason = templateRefusal(located.path) ?? foreignServer(located, context);
  if (reason !== undefined) return { reason };
  try {
    return readInput(context.root, located, context.isSupplied);
  } catch (error) {
    if (error instanceof Unusable) return { reason: error.reason };
    throw error;
  }
}

/** Refuses another origin, because credentials belong to one. */
function foreignServer(
  { pathItem, operation }: FoundOperation,
  { server }: DraftContext,
): string | undefined {
  const holder = [operation, pathItem].find((part) => listOf(field(part, "servers")).length > 0);
  const address = holder && serverUrl(holder, server);
  if (!address || address.origin === server?.origin) return undefined;
  return `it is served from another origin, ${address.origin}; make a source of its own for that`;
}

/** Whether a summary is long enough to identify the operation and short enough for a title. */
function isTitle(summary: string): boolean {
  const words = splitWords(summary.slice(0, 2 * TITLE_CHARS)).length;
  return summary.length <= TITLE_CHARS && words >= 2 && words <= 8;
}

/** The lane of the method, or a stricter lane of a word in the operation: `GET /delete-user`. */
function laneOf({ method, path, operationId = "" }: FoundOperation, { inputSchema }: ApiInput): Lane {
  const isReading = method === "GET" || method === "HEAD" || method === "OPTIONS";
  const annotations = { readOnlyHint: isReading, destructiveHint: method === "DELETE" };
  const parts = path.split("/").filter((part) => !part.includes("{"));
  // After the method's own verb, a word that may be a noun is one: GET /merge_requests.
  const name = [isReading ? "get" : "", operationId, ...parts].join(" ");
  return laneOfTool({ name, annotations, inputSchema });
}

function describe(
  { method, path, operation }: FoundOperation,
  summary: string | undefined,
  isDeprecated: boolean,
): string {
  const description = textOf(field(operation, "description"));
  const sentence = summary && (/[.!?]$/.test(summary.trim()) ? summary.trim() : `${summary.trim()}.`);
  const parts = [isDeprecated && "Deprecated.", sentence, description !== summary && description].filter(
    Boolean,
  );
  return cutText(
    parts.join(isDeprecated && parts.length === 2 ? " " : "\n\n") || `${method} ${path}`,
    DESCRIPTION_CHARS,
  );
}

/** The parts of an operation that name it. */
type NamedOperation = Omit<FoundOperation, "pathItem" | "operation">;

const SEGMENT_CHARS = 60;

/**
 * Derives one stable op for each operation, from tag and operationId or from method and path. The verb of each follows
 * from all operationIds together, and from the nouns of paths and tags. Operations with the same op keep the words of
 * their operationIds; among equal words, the first by path keeps them and the others are numbered.
 */
export function assignOps(label: string, operations: readonly NamedOperation[]): DerivedOp[] {
  const sorted = operations.toSorted(compare);
  const labelWords = new Set(splitWords(label));
  const named = sorted.map((operation) => ({
    operation,
    words: isGrouped(operation) ? [] : splitWords(operation.operationId ?? ""),
  }));
  const nouns = sorted.flatMap(({ path, tags }) => [...pathNouns(path), ...tags.flatMap(splitWords)]);
  const spoken = readDomainWords(
    named.map(({ words }) => words),
    nouns,
  );
  const taken = new Set<string>();
  const toOp = (segments: readonly string[]) =>
    [label, ...segments.map((segment) => segment.slice(0, SEGMENT_CHARS))].join(".");
  const implied = named.map(({ operation, words }) => {
    const { operationId = "", tags } = operation;
    const base = toOp(segmentsOf(operation, label));
    let plain = base;
    for (let number = 2; taken.has(plain); number += 1) plain = `${base}_${number}`;
    taken.add(plain);
    const telling = tags.length > 0 ? words : tellingWords(words, labelWords);
    const toSegments = (split: SplitName) => withGroup(split, telling, splitWords(tags[0] ?? ""));
    const split = toSegments(splitVerb(telling, spoken));
    const further = [
      ...spellings(telling).flatMap((other) => toOp(toSegments(other) ?? [])),
      ...(PLAIN_ID.test(operationId) ? [`${label}.${operationId}`] : []),
    ];
    return { op: split ? toOp(split) : plain, plain, further };
  });
  const ops = uniqueOps(implied, label, new Set());
  const opOf = new Map(sorted.map((operation, at) => [operation, ops[at]!]));
  return operations.map((operation) => opOf.get(operation)!);
}

const PLAIN_ID = /^[A-Za-z0-9_-]{1,128}$/;

/** `issues/create` contains its author's own groups. */
function isGrouped({ operationId = "" }: NamedOperation): boolean {
  return /[./:]/.test(operationId);
}

/** Names of collections: `pets` in `/pets`, `order` in `/store/order/{id}`. Other parts of a path may be verbs. */
function pathNouns(path: string): string[] {
  const parts = path.split("/");
  return parts.flatMap((part, at) => {
    const words = part.includes("{") ? [] : splitWords(part);
    const isCollection = singular(words.at(-1) ?? "") !== words.at(-1) || parts[at + 1]?.startsWith("{");
    return words.length <= 2 && isCollection ? words : [];
  });
}

/** Group, path and verb. Undefined if the name has no verb. */
function withGroup(
  { verb, path }: SplitName,
  words: readonly string[],
  group: readonly string[],
): string[] | undefined {
  if (path.length === 0) return undefined;
  const stems = new Set(group.map(singular));
  const parts = path.filter((word) => !stems.has(singular(word)));
  if (group.length > 0) return [group.join("_"), ...parts, verb];
  // After the verb, singular and plural of an entity are the same.
  return verb.startsWith(words[0]!)
    ? [...parts.slice(0, -1), singular(parts.at(-1)!), verb]
    : [...parts, verb];
}

function segmentsOf(operation: NamedOperation, label: string): string[] {
  const fromId =
    operation.operationId === undefined ? [] : idSegments(operation.operationId, operation.tags[0], label);
  return (fromId.length > 0 ? fromId : pathSegments(operation)).map((segment) =>
    segment.slice(0, SEGMENT_CHARS),
  );
}

/** `issues/create` names its group. `createIssue` takes the group of its tag, `issues`. */
function idSegments(operationId: string, tag: string | undefined, label: string): string[] {
  const parts = operationId
    .split(/[./:]+/)
    .map(splitWords)
    .filter((words) => words.length > 0);
  const [first, ...others] = parts;
  if (first === undefined) return [];
  if (others.length > 0)
    return (first.join("_") === label ? others : parts).slice(0, 4).map((words) => words.join("_"));
  const group = splitWords(tag ?? "");
  if (group.length === 0) return [first.join("_")];
  const stems = new Set(group.map(singular));
  const action = first.filter((word) => !stems.has(singular(word)));
  return [group.join("_"), (action.length > 0 ? action : first).join("_")];
}

function pathSegments({ path, method }: NamedOperation): string[] {
  const parts = path.split("/").filter((part) => part !== "");
  const fixed = parts.filter((part) => !part.includes("{")).map((part) => splitWords(part).join("_"));
  const last = parts.at(-1) ?? "";
  const by = last.includes("{") ? ["by", ...splitWords(last)] : [];
  return [...fixed.filter((part) => part !== ""), [method.toLowerCase(), ...by].join("_")];
}

function compare(left: NamedOperation, right: NamedOperation): number {
  const [a, b] = [left, right].map(({ path, method }) => `${path} ${method}`);
  return a! < b! ? -1 : a! > b! ? 1 : 0;
}
