import { BARE_ENTRY } from "../../schema/bare-entry.ts";
import type { EntryDraft, Lane, RiskLevel } from "../../schema/entry.ts";
import { cutText } from "../../util/cut-text.ts";
import { type Fields, field, listOf, textOf } from "../../util/fields.ts";
import { splitWords } from "../../util/split-words.ts";
import type { ApiClient } from "./api-client.ts";
import { serverUrl } from "./base-url.ts";
import type { OperationInput, OperationPlan } from "./operation-plan.ts";
import { readInput } from "./read-input.ts";
import type { DeclaredParameter } from "./read-parameters.ts";
import { Unusable } from "./resolve-reference.ts";
import { templateRefusal } from "./write-path.ts";

/** An operation and its place in the document. */
export interface FoundOperation {
  readonly method: string;
  readonly path: string;
  readonly pathItem: Fields;
  readonly operation: Fields;
  readonly operationId?: string;
  readonly tags: readonly string[];
}

/** The parts of a source that its tools share. */
export interface DraftContext {
  readonly label: string;
  readonly root: unknown;
  readonly client: ApiClient;
  /** The document's own server. Operations of another origin are not called. */
  readonly server: URL | undefined;
  readonly timeoutMs: number;
  readonly isSupplied: (parameter: Pick<DeclaredParameter, "place" | "name">) => boolean;
}

const DESCRIPTION_CHARS = 2_048;
const PHRASE_CHARS = 200;
const TITLE_CHARS = 80;
const RISK_OF_LANE: Readonly<Record<Lane, RiskLevel>> = {
  read: "safe",
  write: "moderate",
  destructive: "destructive",
};

/** Makes a tool of an operation. An unusable operation is listed with the reason. */
export function toDraft(found: FoundOperation, op: string, context: DraftContext): EntryDraft {
  const { method, path, operation, tags } = found;
  const name = found.operationId ?? `${method} ${path}`;
  const lane = laneOf(method);
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
    domain: context.label,
    name,
    description: describe(found, summary, isDeprecated),
    lane,
    defaultLane: lane,
    riskLevel: RISK_OF_LANE[lane],
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

const NO_INPUT: OperationInput = {
  parameters: [],
  inputSchema: { type: "object", properties: {} },
  notes: [],
  examples: [],
  isPruned: false,
};

function readOrRefuse(
  found: FoundOperation,
  context: DraftContext,
): OperationInput | { readonly reason: string } {
  const reason = templateRefusal(found.path) ?? foreignServer(found, context);
  if (reason !== undefined) return { reason };
  try {
    return readInput(context.root, found, context.isSupplied);
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
  const own = holder && serverUrl(holder, server);
  if (!own || own.origin === server?.origin) return undefined;
  return `it is served from another origin, ${own.origin}; make a source of its own for that`;
}

/** Whether a summary is long enough to identify the operation and short enough to say. */
function isTitle(summary: string): boolean {
  const words = splitWords(summary.slice(0, 2 * TITLE_CHARS)).length;
  return summary.length <= TITLE_CHARS && words >= 2 && words <= 8;
}

function laneOf(method: string): Lane {
  if (method === "GET" || method === "HEAD" || method === "OPTIONS") return "read";
  return method === "DELETE" ? "destructive" : "write";
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
