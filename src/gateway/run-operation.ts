import type { z } from "zod";
import type { ToolNames } from "../base/problems/format-message.ts";
import { customProblem, isProblem, type Problem } from "../base/problems/problem.ts";
import { hideSecrets } from "../base/safety/known-secrets.ts";
import { toVisibleText } from "../base/safety/visible-text.ts";
import { countLongText, loadTokenCounter, type TokenCounter } from "../base/tokens/tokens.ts";
import { addressOf } from "../base/util/address-of.ts";
import { missingScopes } from "../core/access/view.ts";
import type { Approve, CallServices } from "../core/calls/call-environment.ts";
import { type CallDecision, type CallPolicy, decideCall } from "../core/calls/decide-call.ts";
import { resolveAddress } from "../core/calls/resolve-address.ts";
import type { Entry } from "../core/nouns/entry.ts";
import type { Principal } from "../core/nouns/principal.ts";
import type { AnswerLimits } from "../core/operations/answer-parts.ts";
import {
  type ErrorAnswer,
  errorText,
  injectionOf,
  ROOT,
  toErrorAnswer,
  toOperationProblem,
} from "../core/operations/error-answer.ts";
import type { Limits, Operation, OperationContext, Scripts } from "../core/operations/operation.ts";
import { OPERATIONS, type OperationName } from "../core/operations/operations.ts";
import { readInput } from "../core/operations/read-input.ts";
import { runRecipe } from "../core/operations/recipes.ts";
import type { Sandbox } from "../core/sandbox/sandbox.ts";
import { keepResult } from "../core/sessions/working-memory.ts";
import { keeperOf } from "../core/storage/result-keeper.ts";
import type { CallSession } from "../core/storage/session-store.ts";
import { type SurfaceOptions, surfaceTools, wordsOf } from "../core/surfaces/surface.ts";
import { isHeard, publish } from "../core/telemetry/events.ts";
import type { FaceOptions, Observer } from "./face-api.ts";
import type { GatewayOptions, OperationAnswer } from "./gateway-api.ts";
import { type CallBudget, callBudget, type Ledger } from "./ledger.ts";
import { beginRecord, type OperationRecord } from "./record-operation.ts";
import type { Generation } from "./start/catalog-store.ts";
import type { InFlight } from "./start/in-flight.ts";

type RunnableOperation = Operation<z.ZodType, unknown, z.ZodType>;

/** Surface of callers that were shown no other one. */
const LANES_SURFACE: SurfaceOptions = {};
/** The signal of callers that cannot cancel. */
const NEVER = new AbortController().signal;

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
interface OperationCall {
  readonly operation: RunnableOperation;
  readonly given: unknown;
  readonly options: FaceOptions;
  readonly principal: Principal;
  readonly words: ToolNames;
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
    const operation = OPERATIONS[name] as unknown as RunnableOperation;
    const { principal = parts.principal, words = wordsOf(options.surface ?? LANES_SURFACE) } = options;
    const leave = calls.enter();
    const watched = options.forPerson ? NOBODY : observers;
    const record = beginRecord(name, principal, given, options, watched);
    const call: OperationCall = {
      operation,
      given,
      options,
      principal,
      words,
      traceId: record.traceId,
      storing: [],
    };
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
        const poison = injectionOf(output, errors);
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
    call: OperationCall,
    thrown: unknown,
    session: CallSession | undefined,
    countTokens: TokenCounter,
    record: OperationRecord,
  ): Promise<object> {
    const { operation, given, words, traceId, options } = call;
    const raised = toOperationProblem(thrown, operation.name);
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
    { options, principal, traceId, operation }: OperationCall,
    { catalog, viewFor, remember }: Generation,
    budget: CallBudget,
    session: CallSession | undefined,
    countTokens: TokenCounter,
    trace: FaceOptions["trace"],
  ): OperationContext {
    const { approve = parts.approve, client, discovers, signal = NEVER } = options;
    const notice: OperationContext["notice"] = (name, detail) =>
      publish({ type: "notice", notice: name, detail, traceId, principal: principal.id });
    const context: OperationContext = {
      view: viewFor(principal),
      services: options.forPerson ? quiet : services,
      request: { signal, traceId, ...(client && { client }), ...(trace && { trace }) },
      policy: policyOf(operation.name as OperationName, options),
      approve,
      callMs: budget.limits.callMs,
      notice,
      refusal: (address) => {
        const entry = resolveAddress(address, catalog.find)?.entry;
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
      ...(session && { session }),
      ...(discovers !== undefined && { discovers }),
    };
    return context;
  }

  function scriptsFor({ sandbox, resume }: FaceOptions): Scripts {
    if (!sandbox && resume === undefined) return scripts;
    return { ...scripts, ...(sandbox && { sandbox }), ...(resume !== undefined && { resume }) };
  }

  function roomOf(
    call: OperationCall,
    context: OperationContext,
    budget: CallBudget,
    isNamed: boolean,
  ): AnswerLimits {
    return {
      ...shownIn(call.words, budget.limits, context.countTokens),
      tokensLeft: budget.tokensLeft,
      keep: keeping(call, context.session),
      ...(isNamed && context.session && { session: context.session.handle }),
    };
  }

  function keeping(
    { principal, storing }: OperationCall,
    session: CallSession | undefined,
  ): AnswerLimits["keep"] {
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
      const operation = OPERATIONS[name] as unknown as RunnableOperation;
      const { principal = parts.principal } = options;
      await parts.ready();
      const calls = operation.calls(readInput(operation, given).input);
      const addresses = calls.map(({ address }) => address);
      const view = (await parts.current(addresses, principal)).viewFor(principal);
      const policy = policyOf(name, options);
      return calls.flatMap(({ address, args, dryRun }) => {
        const addressed = resolveAddress(address, view.find);
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
  return customProblem("ACCESS_DENIED", message, "Only the owner of the gateway can grant it.");
}

function policyOf(name: OperationName, { surface = LANES_SURFACE, policy }: FaceOptions): CallPolicy {
  const tool = surfaceTools(surface).find(({ operation }) => operation === name);
  const onlyReads = OPERATIONS[name].readOnly && !tool?.mayWrite;
  return { reach: onlyReads ? "read" : "any", asks: "confirmed", ...policy };
}

function shownIn(words: ToolNames, limits: Limits, countTokens: TokenCounter): Omit<AnswerLimits, "keep"> {
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
