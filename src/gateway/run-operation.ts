import type { ToolNames } from "../base/problems/format-message.ts";
import { customProblem, isProblem, type Problem } from "../base/problems/problem.ts";
import { hideSecrets } from "../base/safety/known-secrets.ts";
import { toVisibleText } from "../base/safety/visible-text.ts";
import { countLongText, loadTokenCounter, type TokenCounter } from "../base/tokens/tokens.ts";
import { addressOf } from "../base/util/address-of.ts";
import { reasonOf } from "../base/util/reason-of.ts";
import { missingScopes, resolveAddress } from "../core/access/view.ts";
import type { WaitingCalls } from "../core/access/waiting-calls.ts";
import type { Approve, CallServices } from "../core/calls/call-environment.ts";
import { type CallPolicy, decideCall, stricterAsk } from "../core/calls/decide-call.ts";
import { domainOf, type Entry } from "../core/nouns/entry.ts";
import { readInput } from "../core/nouns/json-form.ts";
import type { Principal } from "../core/nouns/principal.ts";
import type { AskBefore } from "../core/nouns/question.ts";
import type { AnswerLimits, Outside } from "../core/operations/answer-parts.ts";
import {
  type ErrorAnswer,
  errorText,
  ROOT,
  toErrorAnswer,
  toOperationProblem,
} from "../core/operations/error-answer.ts";
import type {
  FailedRead,
  Limits,
  OperationContext,
  RecipeKeeper,
  Scripts,
} from "../core/operations/operation.ts";
import { type AnyOperation, type OperationName, operationOf } from "../core/operations/operations.ts";
import { runRecipe } from "../core/operations/recipes.ts";
import { keepResult, noteSteering } from "../core/sessions/working-memory.ts";
import { keeperOf } from "../core/storage/result-keeper.ts";
import { type CallSession, toCallSession } from "../core/storage/session-store.ts";
import { type SurfaceOptions, surfaceTools, wordsOf } from "../core/surfaces/surface.ts";
import { isHeard } from "../core/telemetry/events.ts";
import type { GatewayParts } from "./defaults.ts";
import type { AskingOptions, FaceApi, FaceOptions, Observer } from "./face-api.ts";
import type { GatewayOptions } from "./gateway-api.ts";
import { type CallBudget, callBudget, type LedgerEntry } from "./ledger.ts";
import { beginRecord, type OperationRecord } from "./record-operation.ts";
import type { Availability, Generation } from "./start/availability.ts";

/** Surface of callers that were shown no other one. */
const LANES_SURFACE: SurfaceOptions = {};
/** The signal of callers that cannot cancel. */
const NEVER = new AbortController().signal;

/** The parts of a gateway that its calls work with. */
export interface RunnerParts extends Omit<GatewayParts, "recipes"> {
  readonly recipes: RecipeKeeper | undefined;
  readonly search: OperationContext["search"];
  readonly approve: Approve;
  waiting(): WaitingCalls | undefined;
  readonly missingScope: GatewayOptions["missingScope"];
  readonly observers: ReadonlySet<Observer>;
  failedSources(principal: Principal): readonly FailedRead[];
  readonly catalog: Pick<Availability, "available" | "refuseEnded">;
}

/** One call on its way from input to answer. */
interface OperationCall {
  readonly operation: AnyOperation;
  readonly input: unknown;
  readonly options: Partial<AskingOptions>;
  readonly principal: Principal;
  readonly words: ToolNames;
  readonly record: OperationRecord;
  readonly countTokens: TokenCounter;
  /** Large values that are being stored. */
  readonly storing: Promise<void>[];
  /** Untrusted text that the answer shows. */
  readonly outside: Outside[];
  session: CallSession | undefined;
  /** The session that the face chose, whichever one the input names. */
  conversation: CallSession | undefined;
}

/** Runs operations: reads the input, runs it on the caller's View, shows the outcome, records it. */
export function createRunner(parts: RunnerParts): Pick<FaceApi, "run" | "decide"> {
  const keeper = keeperOf(parts.results);
  const quiet = quietly(parts.services);
  const { publish, ledger, catalog, services, search, sessions, results, plans, sandbox, recipes } = parts;
  const steering = createSteering(parts);

  async function run(
    name: OperationName,
    input: unknown,
    options: Partial<AskingOptions> = {},
  ): Promise<object> {
    const { principal = parts.owner, words = wordsOf(options.surface ?? LANES_SURFACE) } = options;
    const operation = operationOf(name);
    const endCall = parts.calls.enter();
    const record = beginRecord(name, principal, input, options, parts.observers, publish);
    try {
      catalog.refuseEnded();
      const countTokens = await loadTokenCounter();
      const asked = { operation, input, options, principal, words, record, countTokens };
      const call: OperationCall = {
        ...asked,
        storing: [],
        outside: [],
        session: undefined,
        conversation: undefined,
      };
      return await answer(call).catch((error: unknown) => refuse(call, error));
    } catch (error) {
      record.end(isProblem(error) ? error.code : "INTERNAL", 0);
      throw error;
    } finally {
      endCall();
    }
  }

  async function answer(call: OperationCall): Promise<object> {
    const { operation, options, principal, words, record, countTokens } = call;
    const limits = { ...parts.limits, ...options.limits };
    const { input, ignored } = readInput(operation, call.input);
    const { resume, answers } = options;
    const named = (input as { session?: string }).session;
    // A budget needs the count of the answers before.
    if (limits.sessionTokens < Number.POSITIVE_INFINITY) await ledger.settle();
    const handle = resume?.session ?? named ?? options.session;
    if (handle !== undefined) call.session = await openSession(handle, principal);
    const { session } = call;
    if (options.session !== undefined)
      call.conversation =
        options.session === handle ? session : await openSession(options.session, principal);
    const targets = operation.targets(input);
    const generation = await catalog.available(targets, principal, options.startingMs);
    const budget = callBudget(session, limits, targets);
    const asksLater = answers !== undefined && operation.calls(input).length <= 1;
    const context = contextOf(call, generation, budget.limits, asksLater);
    const outcome = await operation.run(input, context);
    const question = asksLater ? operation.question?.(outcome) : undefined;
    if (question) {
      await Promise.all([...call.storing, session?.save()]);
      record.end("asks", 0, { targets, session, poison: [] });
      return { asks: question };
    }
    const room = roomOf(call, budget, named === undefined ? undefined : session?.handle);
    const toText = options.toText ?? ((shown: object) => operation.toText(shown, words));
    const { output, text } = leave(
      operation.show(outcome, room) as object,
      (shown) => toText(shown) + ignoredText(ignored),
    );
    operation.noteShown?.(output, context);
    const poison = steering.note(call, targets);
    // The next call may go to another gateway, so everything is in the stores before this one is answered.
    await Promise.all([...call.storing, session?.save(), call.conversation?.save()]);
    const errors = operation.errors(output);
    const { error, code } = judge(errors);
    const tokens = isHeard() ? countLongText(text, countTokens) : undefined;
    if (poison.length > 0) context.notice("poison-found", `${targets.join(", ")}: ${poison.join(", ")}`);
    if (tokens !== undefined) record.end(code, tokens, { targets, session, poison });
    const asides = operation.asides?.(output, context, words) ?? [];
    count(call, { text, asides, tokens, counted: record.observed(code, output, { targets, session }) });
    return error ? { ...output, ok: false, error, text } : { ...output, ok: true, text };
  }

  /** Opens or resumes a session. A failing store does not fail the call. */
  async function openSession(handle: string, principal: Principal): Promise<CallSession | undefined> {
    const existing = handle === "new" ? await sessions.open(principal.id) : handle;
    return toCallSession(sessions, existing, principal.id, (error) =>
      publish({ type: "notice", notice: "session-failed", detail: reasonOf(error), principal: principal.id }),
    );
  }

  async function refuse(call: OperationCall, thrown: unknown): Promise<object> {
    const { operation, session, record } = call;
    const raised = toOperationProblem(thrown, operation.name);
    const room = roomOf(call, { limits: parts.limits, tokensLeft: Number.POSITIVE_INFINITY });
    const { output: error, text } = leave(
      toErrorAnswer({ problem: raised, helpPath: ROOT }, room),
      errorText,
    );
    record.end(error.code, 0);
    await Promise.allSettled([...call.storing, session?.save()]);
    count(call, { text, asides: [], counted: record.observed(error.code, {}, { targets: [], session }) });
    return { ...(operation.refuse(error, call.input, record.traceId) as object), ok: false, error, text };
  }

  function count(
    { operation, options, session, countTokens }: OperationCall,
    counted: Pick<LedgerEntry, "text" | "asides" | "tokens" | "counted">,
  ): void {
    if (!options.forPerson) ledger.note({ ...counted, cause: operation.cause, session, countTokens });
  }

  function contextOf(
    { options, principal, record, operation, session, conversation, countTokens }: OperationCall,
    { catalog: whole, viewFor }: Generation,
    limits: Limits,
    asksLater: boolean,
  ): OperationContext {
    const { approve = parts.approve, answers = approve, client, discovers, signal = NEVER } = options;
    const { traceId } = record;
    const notice: OperationContext["notice"] = (name, detail) =>
      publish({ type: "notice", notice: name, detail, traceId, principal: principal.id });
    const { resume } = options.resume ?? {};
    const scripts: Scripts = { plans, sandbox: options.sandbox ?? sandbox, recipes, resume };
    const context: OperationContext = {
      view: viewFor(principal),
      services: options.forPerson ? quiet : services,
      request: { signal, traceId, client, trace: record.traceIn(session) },
      policy: {
        ...policyOf(operation.name as OperationName, options, parts.ask),
        steeredBy: steering.of(principal, conversation),
      },
      approve: (question) => (asksLater ? answers : approve)(question, { signal }),
      waiting: parts.waiting(),
      beforeCall: options.beforeCall,
      asksLater,
      callMs: limits.callMs,
      notice,
      refusal: (address) => {
        const entry = resolveAddress(address, whole.find)?.entry;
        const missing = entry ? missingScopes(principal, entry) : [];
        if (!entry || missing.length === 0) return undefined;
        notice("scope-missing", `${entry.route} needs the scope ${missing.join(", ")}`);
        return parts.missingScope === "ACCESS_DENIED" ? scopeDenied(entry) : undefined;
      },
      limits,
      countTokens,
      search,
      sessions,
      results,
      scripts,
      // Scripts that wait for a recipe do not take its threads.
      runScript: (script, ended) =>
        runRecipe(script, ended, { ...context, scripts: { ...scripts, sandbox: parts.recipeSandbox } }),
      session,
      discovers,
      failedSources: () => parts.failedSources(principal),
    };
    return context;
  }

  function roomOf(call: OperationCall, { limits, tokensLeft }: CallBudget, session?: string): AnswerLimits {
    const { words, countTokens, principal, storing } = call;
    const keep: AnswerLimits["keep"] = (value, name, origin) => {
      const { handle, needs, stored } = keeper.keep(value, principal, origin);
      // Also awaited later; until then a failure must not count as unhandled.
      stored.catch(() => {});
      storing.push(stored);
      call.session?.update((memory) => keepResult(memory, { handle, name, needs }));
      return handle;
    };
    const noteOutside = (text: Outside) => void call.outside.push(text);
    return { ...limits, words, countTokens, tokensLeft, keep, noteOutside, session };
  }

  return {
    run: run as FaceApi["run"],
    decide: async (name, given, options = {}) => {
      const operation = operationOf(name);
      const { principal = parts.owner } = options;
      const planned = operation.calls(readInput(operation, given).input);
      const addresses = planned.map(({ address }) => address);
      const view = (await catalog.available(addresses, principal)).viewFor(principal);
      const { session } = options;
      const conversation = session === undefined ? undefined : await openSession(session, principal);
      const policy = {
        ...policyOf(name, options, parts.ask),
        steeredBy: steering.of(principal, conversation),
      };
      return planned.flatMap(({ address, args, dryRun }) => {
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

/** A face asks about at least the calls that its gateway asks about. */
function policyOf(
  name: OperationName,
  { surface = LANES_SURFACE, policy }: FaceOptions,
  ask: AskBefore | undefined,
): CallPolicy {
  const tool = surfaceTools(surface).find(({ operation }) => operation === name);
  const onlyReads = operationOf(name).readOnly && !tool?.mayWrite;
  const asks = stricterAsk(ask, policy?.asks);
  return { reach: onlyReads ? "read" : "any", ...policy, asks, ...(ask && { byDefault: ask }) };
}

/** How long the text of a server counts for the calls of a principal without a session. */
const STEERED_MS = 30 * 60_000;
const MOST_STEERED = 10_000;

/** Remembers the servers whose text tried to steer the model, by the session that the face chose, or by principal. */
function createSteering({ asksAfterInjection, clock }: Pick<GatewayParts, "asksAfterInjection" | "clock">) {
  const byPrincipal = new Map<string, { readonly servers: readonly string[]; readonly until: number }>();

  function of({ id }: Principal, conversation: CallSession | undefined): readonly string[] {
    if (!asksAfterInjection) return [];
    if (conversation) return conversation.memory.steeredBy;
    const { servers = [], until = 0 } = byPrincipal.get(id) ?? {};
    return clock.monotonic() < until ? servers : [];
  }

  return {
    of,
    /** Notes what a model was shown. Returns the ways in which it was to be steered. */
    note: ({ outside, principal, conversation, session }: OperationCall, targets: readonly string[]) => {
      const steers = outside.filter(({ poison }) => poison.length > 0);
      if (steers.length === 0) return [];
      const read = session?.memory.results.filter(({ handle }) => targets.includes(handle)) ?? [];
      const servers = steers.flatMap(({ source }) =>
        source === "result" && read.length > 0 ? read.map(({ name }) => domainOf(name)) : source.split(", "),
      );
      if (conversation) conversation.update((memory) => noteSteering(memory, servers));
      else {
        const all = [...new Set([...of(principal, undefined), ...servers])];
        byPrincipal.delete(principal.id);
        byPrincipal.set(principal.id, { servers: all, until: clock.monotonic() + STEERED_MS });
        if (byPrincipal.size > MOST_STEERED) byPrincipal.delete(byPrincipal.keys().next().value!);
      }
      return [...new Set(steers.flatMap(({ poison }) => poison))];
    },
  };
}

/** The way out of every answer: without secrets, as data and as text; hidden characters of the text are spelt out. */
function leave<O extends object>(shown: O, toText: (output: O) => string) {
  const output = hideSecrets(shown);
  return { output, text: toVisibleText(toText(output)) };
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
