import { randomUUID } from "node:crypto";
import type { z } from "zod";
import { missingScopes } from "./access/view.ts";
import { type CallBudget, callBudget } from "./call-budget.ts";
import type { Approve, CallServices } from "./calls/call-environment.ts";
import { type CallDecision, type CallPolicy, decideCall } from "./calls/decide-call.ts";
import { findAddressed } from "./calls/find-addressed.ts";
import type { GatewayOptions, OperationAnswer } from "./gateway-api.ts";
import type { FaceOptions } from "./gateway-core.ts";
import type { Ledger } from "./ledger.ts";
import type { Generation } from "./live-catalog.ts";
import {
  asKnownProblem,
  type ErrorAnswer,
  errorText,
  ROOT,
  toErrorAnswer,
} from "./operations/error-answer.ts";
import type { Limits, Operation, OperationContext } from "./operations/operation.ts";
import { OPERATIONS, type OperationName } from "./operations/operations.ts";
import { readInput } from "./operations/read-input.ts";
import type { Room } from "./operations/room.ts";
import type { Entry } from "./schema/entry.ts";
import type { Principal } from "./schema/principal.ts";
import { isProblem, type Problem, problemSaying } from "./schema/problem.ts";
import type { Words } from "./schema/say.ts";
import type { Session } from "./session/session-store.ts";
import { keepResult } from "./session/working-memory.ts";
import { surfaceTools, wordsOf } from "./surfaces/surface.ts";
import { argumentShape } from "./telemetry/argument-shape.ts";
import { isHeard, publish } from "./telemetry/events.ts";
import { beginSpan, inConversation } from "./telemetry/trace-context.ts";
import { addressOf } from "./util/address-of.ts";
import { contentHash } from "./util/content-hash.ts";
import type { InFlight } from "./util/in-flight.ts";
import { loadTokenCounter, type TokenCounter } from "./util/tokens.ts";

type AnyOperation = Operation<z.ZodType, unknown, z.ZodType>;

/** The signal of callers that cannot cancel. */
const NEVER = new AbortController().signal;

/** The parts of a gateway that its calls work with. */
export interface RunnerParts extends Pick<OperationContext, "search" | "sessions" | "results"> {
  readonly services: CallServices;
  readonly limits: Limits;
  readonly approve: Approve;
  readonly principal: Principal;
  readonly missingScope: GatewayOptions["missingScope"];
  readonly ledger: Ledger;
  readonly calls: InFlight;
  /** @throws CLOSED after the gateway was closed. */
  current(): Promise<Generation>;
  openSession(handle: string | undefined, principal: Principal): Session | undefined;
}

/** One call on its way from input to answer. */
interface Call {
  readonly operation: AnyOperation;
  readonly given: unknown;
  readonly options: FaceOptions;
  readonly principal: Principal;
  readonly words: Words;
  readonly traceId: string;
}

export interface Runner {
  run<N extends OperationName>(name: N, input: unknown, options?: FaceOptions): Promise<OperationAnswer<N>>;
  decide(name: OperationName, input: unknown, options?: FaceOptions): Promise<readonly CallDecision[]>;
}

/** Runs operations: reads the input, runs it on the caller's View, shows the outcome, records it. */
export function createRunner(parts: RunnerParts): Runner {
  const { limits, ledger, calls, services, search, sessions, results } = parts;

  async function run(name: OperationName, given: unknown, options: FaceOptions = {}): Promise<object> {
    const operation = OPERATIONS[name] as unknown as AnyOperation;
    const { principal = parts.principal, words = wordsOf(options.surface ?? {}) } = options;
    const leave = calls.enter();
    const record = beginRecord(name, principal, given, options);
    const call: Call = { operation, given, options, principal, words, traceId: record.traceId };
    let session: Session | undefined;
    try {
      const [generation, countTokens] = await Promise.all([parts.current(), loadTokenCounter()]);
      try {
        const { input, ignored } = readInput(operation, given);
        const named = (input as { session?: string }).session;
        session = parts.openSession(named ?? options.session, principal);
        const targets = operation.targets(input);
        const budget = await callBudget(session, { ...limits, ...options.limits }, targets, ledger);
        const context = contextOf(call, generation, budget, session, countTokens, record.traceIn(session));
        const room = roomOf(call, context, budget, named !== undefined);
        const output = operation.show(await operation.run(input, context), room) as object;
        operation.noteShown?.(output, context);
        const shown = options.toText?.(output) ?? operation.toText(output, words);
        // Half a surrogate pair in an answer hangs some clients until their timeouts.
        const text = (shown + ignoredText(ignored)).toWellFormed();
        const { error, code } = judge(operation.errors(output));
        const tokens = isHeard() ? countTokens(text) : undefined;
        if (tokens !== undefined) record.end(code, tokens, targets, session);
        const asides = operation.asides?.(output, context, words) ?? [];
        ledger.note({ cause: operation.cause, text, asides, session, tokens }, countTokens);
        return { ...output, ok: error === undefined, ...(error && { error }), text };
      } catch (error) {
        return refuse(call, error, session, countTokens, record);
      }
    } catch (error) {
      record.end(isProblem(error) ? error.code : "INTERNAL", 0);
      throw error;
    } finally {
      leave();
    }
  }

  function refuse(
    { operation, given, words, traceId, principal }: Call,
    thrown: unknown,
    session: Session | undefined,
    countTokens: TokenCounter,
    record: CallRecord,
  ): object {
    const raised = asKnownProblem(thrown, operation.name);
    const room = { ...shownIn(words, limits, countTokens), keep: keeper(principal, session) };
    const error = toErrorAnswer({ problem: raised, helpPath: ROOT }, room);
    const text = errorText(error).toWellFormed();
    record.end(error.code, 0);
    ledger.note({ cause: operation.cause, text, asides: [], session }, countTokens);
    return { ...(operation.refuse(error, given, traceId) as object), ok: false, error, text };
  }

  function contextOf(
    { options, principal, traceId, operation }: Call,
    { catalog, viewFor, remember }: Generation,
    budget: CallBudget,
    session: Session | undefined,
    countTokens: TokenCounter,
    trace: FaceOptions["trace"],
  ): OperationContext {
    const { approve = parts.approve, client, discovers, signal = NEVER } = options;
    const notice: OperationContext["notice"] = (name, detail) =>
      publish({ type: "notice", notice: name, detail, traceId, principal: principal.id });
    return {
      view: viewFor(principal),
      ...(session && { session }),
      services,
      request: { signal, traceId, ...(client && { client }), ...(trace && { trace }) },
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
      ...(discovers !== undefined && { discovers }),
      remember,
    };
  }

  function roomOf(call: Call, context: OperationContext, budget: CallBudget, isNamed: boolean): Room {
    return {
      ...shownIn(call.words, budget.limits, context.countTokens),
      tokensLeft: budget.tokensLeft,
      ...(isNamed && context.session && { session: context.session.handle }),
      keep: keeper(call.principal, context.session),
    };
  }

  function keeper({ id }: Principal, session: Session | undefined): Room["keep"] {
    return (value, chars, name) => {
      const handle = results.put(value, chars, id);
      session?.update((memory) => keepResult(memory, { handle, name }));
      return handle;
    };
  }

  return {
    run: run as Runner["run"],
    decide: async (name, given, options = {}) => {
      const operation = OPERATIONS[name] as unknown as AnyOperation;
      const { principal = parts.principal } = options;
      const view = (await parts.current()).viewFor(principal);
      const policy = policyOf(name, options);
      return operation.calls(readInput(operation, given).input).flatMap(({ address, args, dryRun }) => {
        const entry = findAddressed(address, view.find)?.entry;
        return entry ? [decideCall(entry, principal, { args, dryRun }, policy)] : [];
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
  const bounds = { askTokens, resultTokens, helpTokens, answerBytes };
  return { words, countTokens, ...bounds, tokensLeft: Number.POSITIVE_INFINITY };
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

interface CallRecord {
  readonly traceId: string;
  /** The trace to pass on, within the conversation of the session. */
  traceIn(session: Session | undefined): FaceOptions["trace"];
  end(outcome: string, tokens: number, targets?: readonly string[], session?: Session): void;
}

/** The event of a call: caller, operation, duration and outcome, never argument values. */
function beginRecord(
  operation: string,
  principal: Principal,
  input: unknown,
  { trace: given }: FaceOptions,
): CallRecord {
  const started = performance.now();
  const startedAt = Date.now();
  const id = randomUUID();
  const traceId = `tr_${id}`;
  const { span, trace } = beginSpan(given, id);
  return {
    traceId,
    traceIn: (session) => {
      const conversation = conversationIn(trace, session);
      return span && trace ? inConversation(trace, span, conversation) : trace;
    },
    end: (outcome, tokens, targets = [], session) => {
      const conversation = conversationIn(trace, session);
      publish({
        type: "operation",
        operation,
        targets,
        principal: principal.id,
        ...(conversation !== undefined && { conversation }),
        traceId,
        latencyMs: performance.now() - started,
        tokens,
        outcome,
        argumentShape: argumentShape(input) as Record<string, unknown>,
        ...(span && { span }),
        startedAt,
      });
    },
  };
}

/** A handle opens the session, so only its hash names the conversation. */
function conversationIn(trace: FaceOptions["trace"], session: Session | undefined): string | undefined {
  if (trace?.conversation !== undefined) return trace.conversation;
  return session && contentHash(session.handle).slice(0, 16);
}
