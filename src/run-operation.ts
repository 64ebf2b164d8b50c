import type { z } from "zod";
import { missingScopes } from "./access/view.ts";
import { type CallBudget, callBudget } from "./call-budget.ts";
import type { Approve, CallServices, RequestContext } from "./calls/call-environment.ts";
import { type CallDecision, type CallPolicy, decideCall } from "./calls/decide-call.ts";
import { findAddressed } from "./calls/find-addressed.ts";
import type { GatewayOptions, OperationAnswer } from "./gateway-api.ts";
import type { FaceOptions, Observer } from "./gateway-core.ts";
import type { Ledger } from "./ledger.ts";
import type { Generation } from "./live-catalog.ts";
import { hideSecrets } from "./net/known-secrets.ts";
import {
  asKnownProblem,
  type ErrorAnswer,
  errorText,
  ROOT,
  toErrorAnswer,
} from "./operations/error-answer.ts";
import type { Limits, Operation, OperationContext } from "./operations/operation.ts";
import { OPERATIONS, type OperationName } from "./operations/operations.ts";
import { poisonOf } from "./operations/poison-of.ts";
import { readInput } from "./operations/read-input.ts";
import type { Room } from "./operations/room.ts";
import { runRecipe } from "./operations/run-recipe.ts";
import type { Scripts } from "./operations/scripts.ts";
import { beginRecord, type OperationRecord } from "./record-operation.ts";
import type { Sandbox } from "./sandbox/sandbox.ts";
import type { Entry } from "./schema/entry.ts";
import type { Principal } from "./schema/principal.ts";
import { isProblem, type Problem, problemSaying } from "./schema/problem.ts";
import type { Words } from "./schema/say.ts";
import { keeperOf } from "./session/result-keeper.ts";
import type { CallSession } from "./session/session-store.ts";
import { keepResult } from "./session/working-memory.ts";
import { surfaceTools, wordsOf } from "./surfaces/surface.ts";
import { isHeard, publish } from "./telemetry/events.ts";
import { addressOf } from "./util/address-of.ts";
import { countLongText } from "./util/count-long-text.ts";
import type { InFlight } from "./util/in-flight.ts";
import { loadTokenCounter, type TokenCounter } from "./util/tokens.ts";
import { toVisibleText } from "./util/visible-text.ts";

type AnyOperation = Operation<z.ZodType, unknown, z.ZodType>;

/** The signal of callers that cannot cancel. */
const NEVER = new AbortController().signal;

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** The parts of a gateway that its calls work with. */
export interface RunnerParts
  extends Pick<OperationContext, "search" | "sessions" | "results">,
    Pick<Scripts, "plans" | "sandbox" | "recipes"> {
  /** Runs the scripts of recipes. Scripts that wait for a recipe do not take its threads. */
  readonly recipeSandbox: Sandbox;
  readonly services: CallServices;
  readonly limits: Limits;
  readonly approve: Approve;
  readonly principal: Principal;
  readonly missingScope: GatewayOptions["missingScope"];
  readonly ledger: Ledger;
  readonly calls: InFlight;
  readonly observers: ReadonlySet<Observer>;
  /** @throws CLOSED after the gateway was closed. */
  ready(): Promise<void>;
  /**
   * The catalog with the approvals of this moment, once the servers that these addresses name have started. Waits a
   * while for them. Call it after `ready`.
   */
  current(addresses: readonly string[], principal: Principal): Promise<Generation>;
  openSession(handle: string, principal: Principal): Promise<CallSession | undefined>;
}

/** One call on its way from input to answer. */
interface Call {
  readonly operation: AnyOperation;
  readonly given: unknown;
  readonly options: FaceOptions;
  readonly principal: Principal;
  readonly words: Words;
  readonly traceId: string;
  /** Large values that are being stored. */
  readonly storing: Promise<void>[];
}

export interface Runner {
  run<N extends OperationName>(name: N, input: unknown, options?: FaceOptions): Promise<OperationAnswer<N>>;
  decide(name: OperationName, input: unknown, options?: FaceOptions): Promise<readonly CallDecision[]>;
}

/** Runs operations: reads the input, runs it on the caller's View, shows the outcome, records it. */
export function createRunner(parts: RunnerParts): Runner {
  const keeper = keeperOf(parts.results);
  const quiet = quietly(parts.services);
  const { ledger, calls, observers, services, search, sessions, results, recipes } = parts;
  const scripts: Scripts = { plans: parts.plans, sandbox: parts.sandbox, ...(recipes && { recipes }) };
  const ofRecipes: Scripts = { ...scripts, sandbox: parts.recipeSandbox };

  async function run(name: OperationName, given: unknown, options: FaceOptions = {}): Promise<object> {
    const operation = OPERATIONS[name] as unknown as AnyOperation;
    const { principal = parts.principal, words = wordsOf(options.surface ?? {}) } = options;
    const leave = calls.enter();
    const watched = options.forPerson ? NOBODY : observers;
    const record = beginRecord(name, principal, given, options, watched);
    const call: Call = { operation, given, options, principal, words, traceId: record.traceId, storing: [] };
    const limits = options.limits ? { ...parts.limits, ...options.limits } : parts.limits;
    let session: CallSession | undefined;
    try {
      const loading = loadTokenCounter();
      await parts.ready();
      const countTokens = await loading;
      try {
        const { input, ignored } = readInput(operation, given);
        const named = (input as { session?: string }).session;
        // A budget needs the count of the answers before.
        if (limits.sessionTokens < Number.POSITIVE_INFINITY) await ledger.settle();
        const handle = named ?? options.session;
        if (handle !== undefined) session = await parts.openSession(handle, principal);
        const targets = operation.targets(input);
        const generation = await parts.current(targets, principal);
        const budget = callBudget(session, limits, targets);
        const context = contextOf(call, generation, budget, session, countTokens, record.traceIn(session));
        const running = operation.run(input, context);
        const room = roomOf(call, context, budget, named !== undefined);
        const output = operation.show(await running, room) as object;
        operation.noteShown?.(output, context);
        // The next call may go to another gateway, so everything is in the stores before this one is answered.
        if (call.storing.length > 0) await Promise.all(call.storing);
        if (session) await session.save();
        const shown = options.toText?.(output) ?? operation.toText(output, words);
        const text = hideSecrets(toVisibleText(shown + ignoredText(ignored)));
        const errors = operation.errors(output);
        const { error, code } = judge(errors);
        const tokens = isHeard() ? countLongText(text, countTokens) : undefined;
        const poison = poisonOf(output, errors);
        if (poison.length > 0) context.notice("poison-found", `${targets.join(", ")}: ${poison.join(", ")}`);
        if (tokens !== undefined) record.end(code, tokens, { targets, session, poison });
        const counted = record.observed(code, output, { targets, session });
        const asides = operation.asides?.(output, context, words) ?? [];
        if (!options.forPerson)
          ledger.note({ cause: operation.cause, text, asides, session, tokens, counted }, countTokens);
        return error ? { ...output, ok: false, error, text } : { ...output, ok: true, text };
      } catch (error) {
        return await refuse(call, error, session, countTokens, record);
      }
    } catch (error) {
      record.end(isProblem(error) ? error.code : "INTERNAL", 0);
      throw error;
    } finally {
      leave();
    }
  }

  async function refuse(
    call: Call,
    thrown: unknown,
    session: CallSession | undefined,
    countTokens: TokenCounter,
    record: OperationRecord,
  ): Promise<object> {
    const { operation, given, words, traceId, options } = call;
    const raised = asKnownProblem(thrown, operation.name);
    const room = { ...shownIn(words, parts.limits, countTokens), keep: keeping(call, session) };
    const error = toErrorAnswer({ problem: raised, helpPath: ROOT }, room);
    const text = hideSecrets(toVisibleText(errorText(error)));
    record.end(error.code, 0);
    await Promise.allSettled([...call.storing, session?.save()]);
    const counted = record.observed(error.code, {}, { targets: [], session });
    if (!options.forPerson)
      ledger.note({ cause: operation.cause, text, asides: [], session, counted }, countTokens);
    return { ...(operation.refuse(error, given, traceId) as object), ok: false, error, text };
  }

  function contextOf(
    { options, principal, traceId, operation }: Call,
    { catalog, viewFor, remember }: Generation,
    budget: CallBudget,
    session: CallSession | undefined,
    countTokens: TokenCounter,
    trace: FaceOptions["trace"],
  ): OperationContext {
    const { approve = parts.approve, client, discovers, signal = NEVER } = options;
    const notice: OperationContext["notice"] = (name, detail) =>
      publish({ type: "notice", notice: name, detail, traceId, principal: principal.id });
    // Every call makes one, and spreads in a literal cost more than its fields.
    const request: Writable<RequestContext> = { signal, traceId };
    if (client) request.client = client;
    if (trace) request.trace = trace;
    const context: Writable<OperationContext> = {
      view: viewFor(principal),
      services: options.forPerson ? quiet : services,
      request,
      policy: policyOf(operation.name as OperationName, options),
      approve,
      callMs: budget.limits.callMs,
      notice,
      refusal: (address) => {
        const entry = findAddressed(address, catalog.find)?.entry;
        const missing = entry ? missingScopes(principal, entry) : [];
        if (!entry || missing.length === 0) return undefined;
        notice("scope-missing", `${entry.route} needs the scope ${missing.join(", ")}`);
        return parts.missingScope === "ACCESS_DENIED" ? scopeDenied(entry) : undefined;
      },
      limits: budget.limits,
      countTokens,
      search,
      sessions,
      results,
      scripts: scriptsFor(options),
      runScript: (script, ended) => runRecipe(script, ended, { ...context, scripts: ofRecipes }),
      remember,
    };
    if (session) context.session = session;
    if (discovers !== undefined) context.discovers = discovers;
    return context;
  }

  function scriptsFor({ sandbox, resume }: FaceOptions): Scripts {
    if (!sandbox && resume === undefined) return scripts;
    return { ...scripts, ...(sandbox && { sandbox }), ...(resume !== undefined && { resume }) };
  }

  function roomOf(call: Call, context: OperationContext, budget: CallBudget, isNamed: boolean): Room {
    const room: Writable<Room> = {
      ...shownIn(call.words, budget.limits, context.countTokens),
      tokensLeft: budget.tokensLeft,
      keep: keeping(call, context.session),
    };
    if (isNamed && context.session) room.session = context.session.handle;
    return room;
  }

  function keeping({ principal, storing }: Call, session: CallSession | undefined): Room["keep"] {
    return (value, name, origin) => {
      const { handle, needs, stored } = keeper.keep(value, principal, origin);
      // Also awaited later; until then a failure must not count as unhandled.
      stored.catch(() => {});
      storing.push(stored);
      session?.update((memory) => keepResult(memory, { handle, name, needs }));
      return handle;
    };
  }

  return {
    run: run as Runner["run"],
    decide: async (name, given, options = {}) => {
      const operation = OPERATIONS[name] as unknown as AnyOperation;
      const { principal = parts.principal } = options;
      await parts.ready();
      const calls = operation.calls(readInput(operation, given).input);
      const addresses = calls.map(({ address }) => address);
      const view = (await parts.current(addresses, principal)).viewFor(principal);
      const policy = policyOf(name, options);
      return calls.flatMap(({ address, args, dryRun }) => {
        const addressed = findAddressed(address, view.find);
        if (!addressed) return [];
        const { entry, params } = addressed;
        // The call runs with the arguments in its address too.
        const all = params ? { ...params, ...(args as object) } : args;
        return [decideCall(entry, principal, { args: all, dryRun }, policy)];
      });
    },
  };
}

/** Names no scope: which ones there are is the owner's business. */
function scopeDenied(entry: Entry): Problem {
  const message = `${addressOf(entry)} needs a scope that this caller lacks.`;
  return problemSaying("ACCESS_DENIED", message, "Only the owner of the gateway can grant it.");
}

function policyOf(name: OperationName, { surface = {}, policy }: FaceOptions): CallPolicy {
  const tool = surfaceTools(surface).find(({ operation }) => operation === name);
  const onlyReads = OPERATIONS[name].readOnly && !tool?.mayWrite;
  return { reach: onlyReads ? "read" : "any", asks: "confirmed", ...policy };
}

function shownIn(words: Words, limits: Limits, countTokens: TokenCounter): Omit<Room, "keep"> {
  const { askTokens, resultTokens, helpTokens, answerBytes } = limits;
  const tokensLeft = Number.POSITIVE_INFINITY;
  return { words, countTokens, askTokens, resultTokens, helpTokens, answerBytes, tokensLeft };
}

function ignoredText(ignored: readonly string[]): string {
  return ignored.length === 0 ? "" : `\n[ignored unknown fields: ${ignored.slice(0, 8).join(", ")}]`;
}

/** An answer fails if all its requests failed. The record's code is that of the first failure. */
function judge(errors: readonly (ErrorAnswer | undefined)[]): {
  error: ErrorAnswer | undefined;
  code: string;
} {
  const first = errors.find((error) => error !== undefined);
  return { error: errors.includes(undefined) ? undefined : first, code: first?.code ?? "ok" };
}

const NOBODY: ReadonlySet<Observer> = new Set();

/** The same services, which note nothing of a call. */
function quietly(services: CallServices): CallServices {
  const { learning, discovery } = services;
  const nothing = () => {};
  return {
    ...services,
    discovery: { ...discovery, searched: nothing, used: nothing },
    ...(learning && { learning: { ...learning, note: nothing } }),
  };
}
