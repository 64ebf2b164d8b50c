import { randomUUID } from "node:crypto";
import { isProblem } from "../base/problems/problem.ts";
import { hideSecrets } from "../base/safety/known-secrets.ts";
import { toVisibleText } from "../base/safety/visible-text.ts";
import { countLongText, loadTokenCounter } from "../base/tokens/tokens.ts";
import { contentHash } from "../base/util/content-hash.ts";
import { reasonOf } from "../base/util/reason-of.ts";
import { resolveAddress } from "../core/access/view.ts";
import { type CallDecision, decideCall } from "../core/calls/decide-call.ts";
import { ReadInput, readInput } from "../core/nouns/json-form.ts";
import type { Principal } from "../core/nouns/principal.ts";
import type { AnswerLimits, Outside } from "../core/operations/answer-parts.ts";
import {
  type ErrorAnswer,
  errorText,
  ROOT,
  toErrorAnswer,
  toOperationProblem,
} from "../core/operations/error-answer.ts";
import type { PlannedCall } from "../core/operations/operation.ts";
import { type AnyOperation, type OperationName, operationOf } from "../core/operations/operations.ts";
import { keepResult } from "../core/sessions/working-memory.ts";
import { keeperOf } from "../core/storage/result-keeper.ts";
import { type CallSession, toCallSession } from "../core/storage/session-store.ts";
import { wordsOf } from "../core/surfaces/surface.ts";
import { argumentShape, beginSpan, inConversation, isHeard, type Publish } from "../core/telemetry/events.ts";
import type { AskingOptions, FaceApi, FaceOptions, Observer } from "./face-api.ts";
import { type CallBudget, callBudget, type LedgerEntry } from "./ledger.ts";
import {
  LANES_SURFACE,
  type OperationCall,
  OperationContexts,
  type RunnerParts,
} from "./operation-context.ts";

/** Runs operations: reads the input, runs it on the caller's View, shows the outcome, records the call. */
export function createRunner(parts: RunnerParts): Pick<FaceApi, "run" | "decide"> {
  const runner = new Runner(parts);
  return {
    run: ((name, input, options) => runner.run(name, input, options)) as FaceApi["run"],
    decide: (name, input, options) => runner.decide(name, input, options),
  };
}

class Runner {
  readonly #parts: RunnerParts;
  readonly #contexts: OperationContexts;

  constructor(parts: RunnerParts) {
    this.#parts = parts;
    this.#contexts = new OperationContexts(parts);
  }

  async run(name: OperationName, input: unknown, options: Partial<AskingOptions> = {}): Promise<object> {
    const parts = this.#parts;
    const { principal = parts.owner, words = wordsOf(options.surface ?? LANES_SURFACE) } = options;
    const endCall = parts.calls.enter();
    const rawInput = input instanceof ReadInput ? input.given : input;
    const record = beginRecord(name, principal, rawInput, options, parts.observers, parts.publish);
    try {
      parts.catalog.refuseEnded();
      const call: RecordedCall = {
        operation: operationOf(name),
        input,
        options,
        principal,
        words,
        record,
        countTokens: await loadTokenCounter(),
        storing: [],
        outside: [],
        session: undefined,
        conversation: undefined,
      };
      return await this.answer(call).catch((error: unknown) => this.refuse(call, error, rawInput));
    } catch (error) {
      record.end(isProblem(error) ? error.code : "INTERNAL", 0);
      throw error;
    } finally {
      endCall();
    }
  }

  private async answer(call: RecordedCall): Promise<object> {
    const { operation, options, principal } = call;
    const { ledger, catalog } = this.#parts;
    const limits = { ...this.#parts.limits, ...options.limits };
    const read = inputOf(operation, call.input);
    const { input } = read;
    const { session: named } = input as { session?: string };
    // A budget needs the counts of earlier answers.
    if (limits.sessionTokens < Number.POSITIVE_INFINITY) await ledger.settle();
    await this.openSessions(call, named);
    const { session } = call;
    const targets = operation.targets(input);
    const generation = await catalog.available(targets, principal, options.startingMs);
    const budget = callBudget(session, limits, targets);
    const asksLater = options.answers !== undefined && operation.calls(input).length <= 1;
    const context = this.#contexts.contextOf(call, generation, budget.limits, asksLater);
    const outcome = await operation.run(input, context);
    const question = asksLater ? operation.question?.(outcome) : undefined;
    if (question) {
      await Promise.all([...call.storing, session?.save()]);
      call.record.end("asks", 0, { targets, session, injection: [] });
      return { asks: question };
    }
    const room = this.roomOf(call, budget, named === undefined ? undefined : session?.handle);
    const toText = options.toText ?? ((shown: object) => operation.toText(shown, call.words));
    const { output, text } = leave(
      operation.show(outcome, room) as object,
      (shown) => toText(shown) + ignoredText(read.ignored),
    );
    operation.noteShown?.(output, context);
    const injection = this.#contexts.noteSteering(call, targets);
    // Another gateway may get the next call, so write everything to the stores before answering.
    await Promise.all([...call.storing, session?.save(), call.conversation?.save()]);
    if (injection.length > 0)
      context.notice("injection-found", `${targets.join(", ")}: ${injection.join(", ")}`);
    const { error, code } = outcomeOf(operation.errors(output));
    const asides = operation.asides?.(output, context, call.words) ?? [];
    this.note(call, code, output, { text, asides }, { targets, session, injection });
    return error ? { ...output, ok: false, error, text } : { ...output, ok: true, text };
  }

  /** Opens the face's session, and the session of the call: the one that the input names, or the face's. */
  private async openSessions(call: RecordedCall, named: string | undefined): Promise<void> {
    const { options, principal } = call;
    const handle = options.resume?.session ?? named ?? options.session;
    if (handle !== undefined) call.session = await this.openSession(handle, principal);
    if (options.session === undefined) return;
    call.conversation =
      options.session === handle ? call.session : await this.openSession(options.session, principal);
  }

  /** Opens or resumes a session. A store that fails does not fail the call. */
  private async openSession(handle: string, principal: Principal): Promise<CallSession> {
    const { sessions, publish } = this.#parts;
    const existing = handle === "new" ? await sessions.open(principal.id) : handle;
    return toCallSession(sessions, existing, principal.id, (error) =>
      publish({ type: "notice", notice: "session-failed", detail: reasonOf(error), principal: principal.id }),
    );
  }

  /** Publishes the event of an answer. The ledger counts the answer after it was sent. */
  private note(
    call: RecordedCall,
    code: string,
    output: object,
    { text, asides }: Pick<LedgerEntry, "text" | "asides">,
    answer: RecordedAnswer,
  ): void {
    const { record } = call;
    const tokens = isHeard() ? countLongText(text, call.countTokens) : undefined;
    if (tokens !== undefined) record.end(code, tokens, answer);
    this.count(call, { text, asides, tokens, counted: record.observed(code, output, answer) });
  }

  private async refuse(call: RecordedCall, thrown: unknown, rawInput: unknown): Promise<object> {
    const { operation, session, record } = call;
    const raised = toOperationProblem(thrown, operation.name);
    const room = this.roomOf(call, { limits: this.#parts.limits, tokensLeft: Number.POSITIVE_INFINITY });
    const { output: error, text } = leave(
      toErrorAnswer({ problem: raised, helpPath: ROOT }, room),
      errorText,
    );
    record.end(error.code, 0);
    await Promise.allSettled([...call.storing, session?.save()]);
    const counted = record.observed(error.code, {}, { targets: [], session });
    this.count(call, { text, asides: [], counted });
    return { ...(operation.refuse(error, rawInput, record.traceId) as object), ok: false, error, text };
  }

  private count(
    { operation, options, session, countTokens }: RecordedCall,
    counted: Pick<LedgerEntry, "text" | "asides" | "tokens" | "counted">,
  ): void {
    if (options.forPerson) return;
    this.#parts.ledger.note({ ...counted, cause: operation.cause, session, countTokens });
  }

  private roomOf(call: RecordedCall, { limits, tokensLeft }: CallBudget, session?: string): AnswerLimits {
    const { words, countTokens, principal, storing, options } = call;
    const { resultFiles } = this.#parts;
    const toFile: AnswerLimits["toFile"] = options.client?.readsFiles
      ? (handle, value) => resultFiles?.write(handle, value)
      : undefined;
    const keep: AnswerLimits["keep"] = (value, name, origin) => {
      const { handle, needs, stored } = keeperOf(this.#parts.results).keep(value, principal, origin);
      // Awaited later too; until then a failure must not count as unhandled.
      stored.catch(() => {});
      storing.push(stored);
      call.session?.update((memory) => keepResult(memory, { handle, name, needs }));
      return handle;
    };
    const noteOutside = (text: Outside) => void call.outside.push(text);
    return { ...limits, words, countTokens, tokensLeft, keep, toFile, noteOutside, session };
  }

  /** Decides about the calls that an input would make. Unreadable input makes none. */
  async decide(
    name: OperationName,
    input: unknown,
    options: FaceOptions = {},
  ): Promise<readonly CallDecision[]> {
    const { owner, catalog } = this.#parts;
    const { principal = owner, session } = options;
    const operation = operationOf(name);
    const planned = plannedBy(operation, input);
    const addresses = planned.map(({ address }) => address);
    const view = (await catalog.available(addresses, principal)).viewFor(principal);
    const conversation = session === undefined ? undefined : await this.openSession(session, principal);
    const policy = this.#contexts.policyOf(name, options, principal, conversation);
    return planned.flatMap(({ address, args, dryRun }) => {
      const addressed = resolveAddress(address, view.find);
      if (!addressed) return [];
      const { entry, params } = addressed;
      // The call includes the arguments in its address.
      const all = params ? { ...params, ...(args as object) } : args;
      return [decideCall(entry, principal, { args: all, dryRun }, policy)];
    });
  }
}

function inputOf(operation: AnyOperation, input: unknown): ReadInput {
  return input instanceof ReadInput ? input : readInput(operation, input);
}

function plannedBy(operation: AnyOperation, input: unknown): readonly PlannedCall[] {
  try {
    return operation.calls(inputOf(operation, input).input);
  } catch (error) {
    if (isProblem(error) && error.code === "INVALID_INPUT") return [];
    throw error;
  }
}

/** Every answer leaves here: secrets removed from data and text, hidden characters of the text spelt out. */
function leave<O extends object>(shown: O, toText: (output: O) => string) {
  const output = hideSecrets(shown);
  return { output, text: toVisibleText(toText(output)) };
}

function ignoredText(ignored: readonly string[]): string {
  return ignored.length === 0 ? "" : `\n[ignored unknown fields: ${ignored.slice(0, 8).join(", ")}]`;
}

/** An answer fails if all its requests failed. The code is that of the first failure. */
function outcomeOf(errors: readonly (ErrorAnswer | undefined)[]): {
  error: ErrorAnswer | undefined;
  code: string;
} {
  const first = errors.find((error) => error !== undefined);
  return { error: errors.includes(undefined) ? undefined : first, code: first?.code ?? "ok" };
}

/** A call with its record, for events and observers. The record never has argument values. */
interface RecordedCall extends OperationCall {
  readonly record: ReturnType<typeof beginRecord>;
}

interface RecordedAnswer {
  readonly targets: readonly string[];
  readonly session: CallSession | undefined;
  readonly injection: readonly string[];
}

/** Unreadable input names no targets. */
const NOT_READ: RecordedAnswer = { targets: [], session: undefined, injection: [] };

/** Begins the record of an operation, and its time. */
function beginRecord(
  operation: OperationName,
  principal: Principal,
  input: unknown,
  { trace: callerTrace, forPerson, client }: FaceOptions,
  observers: ReadonlySet<Observer>,
  publish: Publish,
) {
  const started = performance.now();
  const startedAt = Date.now();
  const id = randomUUID();
  const traceId = `tr_${id}`;
  const { span, trace } = beginSpan(callerTrace, publish, id);
  const factsOf = (outcome: string, targets: readonly string[], session: CallSession | undefined) => {
    const conversation = conversationIn(trace, session);
    const latencyMs = performance.now() - started;
    const named = conversation !== undefined && { conversation };
    return { operation, targets, ...named, traceId, latencyMs, outcome, startedAt };
  };
  return {
    traceId,
    traceIn: (session: CallSession | undefined): FaceOptions["trace"] => {
      const conversation = conversationIn(trace, session);
      return span && trace ? inConversation(trace, span, publish, conversation) : trace;
    },
    /** Returns a function that reports the call to observers once its tokens are counted. */
    observed: (
      outcome: string,
      answer: object,
      { targets, session }: Pick<RecordedAnswer, "targets" | "session">,
    ) => {
      if (forPerson || observers.size === 0) return undefined;
      const facts = factsOf(outcome, targets, session);
      return (tokens: number) => {
        for (const observer of observers)
          observer.called({ ...facts, tokens, principal, answer, client: client?.name });
      };
    },
    end: (outcome: string, tokens: number, { targets, session, injection } = NOT_READ): void => {
      publish({
        type: "operation",
        ...factsOf(outcome, targets, session),
        tokens,
        principal: principal.id,
        ...(injection.length > 0 && { injection }),
        argumentShape: argumentShape(input) as Record<string, unknown>,
        ...(span && { span }),
      });
    },
  };
}

/** Only the hash of the handle names the conversation: the handle itself would open the session. */
function conversationIn(trace: FaceOptions["trace"], session: CallSession | undefined): string | undefined {
  if (trace?.conversation !== undefined) return trace.conversation;
  return session && contentHash(session.handle).slice(0, 16);
}
