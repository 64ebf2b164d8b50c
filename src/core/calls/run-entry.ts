import { toSignature } from "../../base/json-schema/signature.ts";
import { isProblem, problem } from "../../base/problems/problem.ts";
import { hideSecrets } from "../../base/safety/known-secrets.ts";
import { toVisibleText } from "../../base/safety/visible-text.ts";
import { addressOf } from "../../base/util/address-of.ts";
import type { Json } from "../../base/util/json.ts";
import { toJson } from "../../base/util/to-json.ts";
import type {
  CallContext,
  CallingClient,
  Entry,
  FindRequest,
  FoundEntry,
  Guidance,
  Lane,
} from "../nouns/entry.ts";
import { needsEntry } from "../sessions/read-conditions.ts";
import {
  discover,
  meet,
  noteRead,
  type ToolUse,
  unveil,
  use,
  type WorkingMemory,
} from "../sessions/working-memory.ts";
import type { CallScope } from "./call-environment.ts";
import { type ApprovalRequest, type AskingCall, askerOf, questionOf } from "./decide-call.ts";
import { marksOf } from "./read-before-write.ts";

/**
 * Runs an entry with checked params within its deadline and records it in the session. A tool may ask a person; if the
 * face asks later, the run ends with the question. Throws problems only.
 */
export async function runEntry(
  entry: Entry,
  environment: CallScope,
  call: (context: CallContext) => Promise<unknown>,
  options: RememberOptions,
): Promise<EntryResult | AskingCall> {
  const { discovery, learning, shapes } = environment.services;
  const noted = { ...conversationOf(environment), route: entry.route };
  let asked: ApprovalRequest | undefined;
  const ask: CallContext["ask"] = async (asks) => {
    // Only the client can open a page for its person.
    if (asks.opens !== undefined && !environment.asksLater) return false;
    const question = questionOf(entry, options.args, asks, askerOf(environment));
    const answer = await environment.approve(question);
    if (answer !== false || !environment.asksLater) return answer;
    asked = question;
    throw problem("APPROVAL_REQUIRED", { name: entry.op, because: "" });
  };
  try {
    const ran = await run(entry, environment, call, ask);
    discovery.used(noted.conversation, entry.route);
    learning?.note({ kind: "used", ...noted });
    if (!options.dry) shapes.note(environment.view, entry, ran.value);
    rememberRun(entry, environment, ran, options);
    return ran;
  } catch (error) {
    if (asked) return { asks: asked };
    if (isToolFailure(error)) learning?.note({ kind: "failed", ...noted });
    if (!options.dry) rememberFailure(entry, environment);
    throw error;
  }
}

async function run(
  entry: Entry,
  environment: CallScope,
  call: (context: CallContext) => Promise<unknown>,
  ask: CallContext["ask"],
): Promise<EntryResult> {
  const { view, session, request, runScript } = environment;
  const name = addressOf(entry);
  const ms = (entry.kind === "tool" && entry.timeoutMs) || environment.callMs;
  let showUpTo: number | undefined;
  let sources: readonly string[] = [];
  const returned = await withDeadline({ ms, signal: request.signal, name }, (signal, pause) =>
    call({
      principal: view.principal,
      signal,
      traceId: request.traceId,
      session: session?.handle,
      client: request.client && pausing(request.client, pause),
      trace: request.trace,
      find: (findRequest) => searchForTool(environment, findRequest),
      showUpTo: (tokens) => {
        showUpTo = tokens;
      },
      runScript:
        runScript &&
        (async (script) => {
          const ran = await runScript(script, signal);
          sources = ran.sources;
          return ran.value;
        }),
      ask,
    }),
  );
  const { content, guidance } = toGuidedResult(returned, entry.presentation?.outputSchema !== undefined);
  const json = toJson(content);
  if (!json.ok) throw problem("RESULT_INVALID", { name, reason: json.reason });
  return {
    value: hideSecrets(json.value),
    guidance: await guidanceSteps(entry, guidance, environment),
    warnings: json.warnings,
    showUpTo,
    ...(sources.length > 0 && { source: sources.join(", ") }),
  };
}

const FAILURES: ReadonlySet<string> = new Set([
  "CALL_FAILED",
  "UPSTREAM_ERROR",
  "RESULT_INVALID",
  "INTERNAL",
]);
/** Statuses of a proxy whose service is unreachable. */
const OUT_OF_REACH: ReadonlySet<unknown> = new Set([502, 503, 504]);
/** The JSON-RPC code for wrong params. Servers also report it in the text of a result. */
const WRONG_PARAMS = "-32602";

/**
 * Whether the tool itself failed, so that another may suit the need better. Wrong params, cancellation, timeouts,
 * missing rights and unreachable services say nothing about that.
 */
export function isToolFailure(error: unknown): boolean {
  if (!isProblem(error)) return true;
  if (!FAILURES.has(error.code) || error.message.includes(WRONG_PARAMS)) return false;
  const { network, status } = error.details;
  if (network !== undefined || OUT_OF_REACH.has(status)) return false;
  return typeof status !== "number" || status >= 500;
}

/** Searches for a running entry among the entries that its caller may see. */
async function searchForTool(
  { view, search }: Pick<CallScope, "view" | "search">,
  { query, limit, ...filter }: FindRequest,
): Promise<readonly FoundEntry[]> {
  const hits = await search.search({ query, limit, filter: { ...filter, scopes: view.principal.scopes } });
  return hits
    .filter(({ id }) => (view.find(id)?.visibility ?? "hidden") !== "hidden")
    .map(({ id, score }) => ({ route: id, score }));
}

type Remembering = Pick<CallScope, "session"> & {
  readonly services: Pick<CallScope["services"], "extractor">;
};

/** How an entry runs, and with which args. */
interface RememberOptions {
  readonly dry: boolean;
  readonly args: Readonly<Record<string, unknown>>;
}

/**
 * Records a run in the session: the entry, entities in its result, unveiled routes. A dry run records only the routes.
 */
export function rememberRun(
  entry: Entry,
  { session, services }: Remembering,
  { value, guidance }: Pick<EntryResult, "value" | "guidance">,
  { dry, args }: RememberOptions,
): void {
  if (!session) return;
  const routes = guidance.map(({ route }) => route);
  if (dry) {
    session.update((memory) => unveil(memory, routes));
    return;
  }
  const now = new Date();
  const extracted = entry.kind === "tool" ? services.extractor.extract(entry, value, now) : [];

  const entities = extracted.map((entity) => ({ ...entity, needs: needsEntry(entry) }));
  const marks = marksOf(entry, args, value);
  session.update((memory) => {
    const used = useEntry(memory, entry, "success", now);
    const met = entities.length > 0 ? meet(used, entities) : used;
    return unveil(noteRead(met, marks), routes);
  });
}

function rememberFailure(entry: Entry, { session }: Pick<Remembering, "session">): void {
  session?.update((memory) => useEntry(memory, entry, "error", new Date()));
}

/** A used entry counts as discovered. */
function useEntry(
  memory: WorkingMemory,
  entry: Entry,
  result: ToolUse["lastResult"],
  at: Date,
): WorkingMemory {
  const name = addressOf(entry);
  const discovered = entry.kind === "resource" ? memory : discover(memory, [name]);
  return use(discovered, { name, result, at });
}

/** The outcome of running one entry. */
export interface EntryResult {
  /** The whole result. */
  readonly value: Json;
  readonly guidance: readonly GuidanceStep[];
  readonly warnings: readonly string[];
  /** Tokens that the entry asks to be shown, beyond the usual limit. */
  readonly showUpTo?: number | undefined;
  /** Servers whose results a recipe read (untrusted text). */
  readonly source?: string;
}

interface Deadline {
  readonly ms: number;
  /** Signal of the caller, which cancels the work. */
  readonly signal: AbortSignal;
  /** Name of the work in the problem. */
  readonly name: string;
}

/** Stops the clock while a client answers a question, and restarts it from zero. */
type Pause = <T>(waiting: () => Promise<T>) => Promise<T>;

function pausing(client: CallingClient, pause: Pause): CallingClient {
  const { request, roots } = client;
  return {
    ...client,
    ...(request && { request: (method, params) => pause(() => request(method, params)) }),
    ...(roots && { roots: () => pause(roots) }),
  };
}

/** Runs work until it ends, the time is over or the caller cancels, even if the work ignores its signal. */
export async function withDeadline<T>(
  { ms, signal, name }: Deadline,
  work: (signal: AbortSignal, pause: Pause) => Promise<T>,
): Promise<T> {
  if (signal.aborted) throw problem("CANCELLED", { name });
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  // Work that throws at once never awaits this.
  stopped.catch(() => {});
  const controller = new AbortController();
  const stop = (reason: Error) => {
    reject(reason);
    controller.abort(reason);
  };
  const cancel = () => stop(problem("CANCELLED", { name }));
  const start = () => setTimeout(() => stop(problem("TIMEOUT", { name, ms })), ms);
  let timer = start();
  let pauses = 0;
  const pause: Pause = async (waiting) => {
    clearTimeout(timer);
    pauses += 1;
    try {
      return await waiting();
    } finally {
      pauses -= 1;
      if (pauses === 0 && !isOver) timer = start();
    }
  };
  let isOver = false;
  signal.addEventListener("abort", cancel, { once: true });
  try {
    return await Promise.race([work(controller.signal, pause), stopped]);
  } finally {
    isOver = true;
    clearTimeout(timer);
    signal.removeEventListener("abort", cancel);
  }
}

const OFTEN_NEXT = "Often used next.";
const MAX_STEPS = 20;
const PROSE_CHARS = 500;

/** A next step as an answer carries it. */
export interface GuidanceStep {
  readonly route: string;
  readonly prose: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly signature?: string;
  readonly lane: Lane;
}

/** Next steps after a run: from its result, declared, or learned. Drops and reports those the caller cannot see. */
async function guidanceSteps(
  entry: Entry,
  returned: readonly unknown[],
  { view, services, notice }: Pick<CallScope, "view" | "services" | "notice">,
): Promise<GuidanceStep[]> {
  const next = await services.learning?.after(view.scopeKey, entry.route, view.principal.id);
  const learned = (next ?? [])
    .filter((route) => (view.find(route)?.visibility ?? "hidden") !== "hidden")
    .map((route) => ({ route, prose: OFTEN_NEXT }));
  const steps = new Map<string, GuidanceStep>();
  for (const candidate of [...returned, ...entry.guidance, ...learned].slice(0, MAX_STEPS * 2)) {
    if (!isGuidance(candidate)) continue;
    const { route, prose, params } = candidate;
    const target = view.find(route);
    if (!target) {
      notice("guidance-dropped", `${entry.route} leads to ${toVisibleText(route, 200)}`);
      continue;
    }
    const key = JSON.stringify([target.route, params]);
    if (steps.has(key) || steps.size >= MAX_STEPS) continue;
    steps.set(key, {
      route: target.route,
      prose: toVisibleText(prose, PROSE_CHARS),
      ...(params && { params }),
      ...(target.kind !== "resource" && { signature: toSignature(target.inputSchema) }),
      lane: target.lane,
    });
  }
  return [...steps.values()];
}

/**
 * Separates a result from its guidance: `{ content, guidance }`, or `{ content }` around a text alone unless the tool
 * declares an object. Any other value is the content itself.
 */
function toGuidedResult(
  value: unknown,
  declaresObject: boolean,
): { readonly content: unknown; readonly guidance: readonly unknown[] } {
  if (typeof value !== "object" || value === null || !("content" in value))
    return { content: value, guidance: [] };
  if ("guidance" in value && Array.isArray(value.guidance))
    return { content: value.content, guidance: value.guidance };
  const isAlone = typeof value.content === "string" && Object.keys(value).length === 1 && !declaresObject;
  return { content: isAlone ? value.content : value, guidance: [] };
}

function isGuidance(value: unknown): value is Guidance {
  if (typeof value !== "object" || value === null) return false;
  const { route, prose, params } = value as Partial<Guidance>;
  return (
    typeof route === "string" &&
    typeof prose === "string" &&
    (params === undefined || typeof params === "object")
  );
}

/** Learning connects queries with calls by session, or by principal without one. */
export function conversationOf({ session, view }: Pick<CallScope, "session" | "view">): {
  scope: string;
  conversation: string;
  principal: string;
} {
  const { scopeKey: scope, principal } = view;
  return { scope, conversation: session?.handle ?? principal.id, principal: principal.id };
}
