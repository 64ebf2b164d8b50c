import type { ToolNames } from "../base/problems/format-message.ts";
import { customProblem, type Problem } from "../base/problems/problem.ts";
import type { TokenCounter } from "../base/tokens/tokens.ts";
import { addressOf } from "../base/util/address-of.ts";
import type { PeopleUsage } from "../core/access/usage.ts";
import { missingScopes, resolveAddress } from "../core/access/view.ts";
import type { WaitingCalls } from "../core/access/waiting-calls.ts";
import type { Approve, CallServices } from "../core/calls/call-environment.ts";
import { type CallPolicy, stricterAsk } from "../core/calls/decide-call.ts";
import { domainOf, type Entry } from "../core/nouns/entry.ts";
import type { Principal } from "../core/nouns/principal.ts";
import type { Outside } from "../core/operations/answer-parts.ts";
import type {
  FailedRead,
  Limits,
  OperationContext,
  RecipeKeeper,
  Scripts,
} from "../core/operations/operation.ts";
import { type AnyOperation, type OperationName, operationOf } from "../core/operations/operations.ts";
import { runRecipe } from "../core/operations/recipes.ts";
import { noteSteering } from "../core/sessions/working-memory.ts";
import type { CallSession } from "../core/storage/session-store.ts";
import { type SurfaceOptions, surfaceTools } from "../core/surfaces/surface.ts";
import type { GatewayParts } from "./defaults.ts";
import type { AskingOptions, FaceOptions, Observer } from "./face-api.ts";
import type { GatewayOptions } from "./gateway-api.ts";
import type { Availability, Generation } from "./start/availability.ts";

/** Surface of callers that were shown no other. */
export const LANES_SURFACE: SurfaceOptions = {};
/** The signal of callers that cannot cancel. */
const NEVER = new AbortController().signal;

/** The parts of a gateway that calls use. */
export interface RunnerParts extends Omit<GatewayParts, "recipes"> {
  readonly recipes: RecipeKeeper | undefined;
  readonly search: OperationContext["search"];
  readonly approve: Approve;
  waiting(): WaitingCalls | undefined;
  usage(): PeopleUsage | undefined;
  readonly missingScope: GatewayOptions["missingScope"];
  readonly observers: ReadonlySet<Observer>;
  failedSources(principal: Principal): readonly FailedRead[];
  readonly catalog: Pick<Availability, "available" | "refuseEnded">;
}

/** One call on its way from input to answer. */
export interface OperationCall {
  readonly operation: AnyOperation;
  readonly input: unknown;
  readonly options: Partial<AskingOptions>;
  readonly principal: Principal;
  readonly words: ToolNames;
  readonly record: {
    readonly traceId: string;
    /** The trace to pass on, within the session's conversation. */
    traceIn(session: CallSession | undefined): FaceOptions["trace"];
  };
  readonly countTokens: TokenCounter;
  /** Large values that are being stored now. */
  readonly storing: Promise<void>[];
  /** Untrusted text that the answer shows. */
  readonly outside: Outside[];
  session: CallSession | undefined;
  /** The session that the face chose, whichever one the input names. */
  conversation: CallSession | undefined;
}

/** Makes the contexts in which operations run: the caller's View and policy, the services of the gateway. */
export class OperationContexts {
  readonly #parts: RunnerParts;
  readonly #quiet: CallServices;
  readonly #steering: Steering;

  constructor(parts: RunnerParts) {
    this.#parts = parts;
    this.#quiet = withoutRecords(parts.services);
    this.#steering = new Steering(parts);
  }

  contextOf(
    call: OperationCall,
    generation: Generation,
    limits: Limits,
    asksLater: boolean,
  ): OperationContext {
    const { options, principal, record, operation, session, conversation, countTokens } = call;
    const parts = this.#parts;
    const { publish, search, sessions, results, plans, recipes } = parts;
    const { approve = parts.approve, answers = approve, client, discovers, signal = NEVER } = options;
    const { traceId } = record;
    const notice: OperationContext["notice"] = (name, detail) =>
      publish({ type: "notice", notice: name, detail, traceId, principal: principal.id });
    const { resume } = options.resume ?? {};
    const scripts: Scripts = { plans, sandbox: options.sandbox ?? parts.sandbox, recipes, resume };
    const context: OperationContext = {
      view: generation.viewFor(principal),
      services: options.forPerson ? this.#quiet : parts.services,
      request: { signal, traceId, client, trace: record.traceIn(session) },
      policy: this.policyOf(operation.name as OperationName, options, principal, conversation),
      approve: (question) => (asksLater ? answers : approve)(question, { signal }),
      waiting: parts.waiting(),
      usage: options.forPerson ? undefined : parts.usage(),
      beforeCall: options.beforeCall,
      asksLater,
      callMs: limits.callMs,
      notice,
      refusal: (address) => this.#refusal(address, principal, generation, notice),
      limits,
      countTokens,
      search,
      sessions,
      results,
      scripts,
      // Recipes have threads of their own: scripts that wait for recipes may occupy all others.
      runScript: (script, ended) =>
        runRecipe(script, ended, { ...context, scripts: { ...scripts, sandbox: parts.recipeSandbox } }),
      session,
      discovers,
      failedSources: () => parts.failedSources(principal),
    };
    return context;
  }

  /** A face may ask about more calls than its gateway, never about fewer. */
  policyOf(
    name: OperationName,
    { surface = LANES_SURFACE, policy }: FaceOptions,
    principal: Principal,
    conversation: CallSession | undefined,
  ): CallPolicy {
    const { ask } = this.#parts;
    const tool = surfaceTools(surface).find(({ operation }) => operation === name);
    const onlyReads = operationOf(name).readOnly && !tool?.mayWrite;
    const asks = stricterAsk(ask, policy?.asks);
    const steeredBy = this.#steering.of(principal, conversation);
    return { reach: onlyReads ? "read" : "any", ...policy, asks, ...(ask && { byDefault: ask }), steeredBy };
  }

  /** Notes the texts that the model was shown. Returns the ways in which they try to steer it. */
  noteSteering(call: OperationCall, targets: readonly string[]): string[] {
    return this.#steering.note(call, targets);
  }

  #refusal(
    address: string,
    principal: Principal,
    { catalog }: Generation,
    notice: OperationContext["notice"],
  ): Problem | undefined {
    const entry = resolveAddress(address, catalog.find)?.entry;
    const missing = entry ? missingScopes(principal, entry) : [];
    if (!entry || missing.length === 0) return undefined;
    notice("scope-missing", `${entry.route} needs the scope ${missing.join(", ")}`);
    return this.#parts.missingScope === "ACCESS_DENIED" ? scopeDenied(entry) : undefined;
  }
}

/** Names no scope: the caller must not learn which scopes exist. */
function scopeDenied(entry: Entry): Problem {
  const message = `${addressOf(entry)} needs a scope that this caller lacks.`;
  return customProblem("ACCESS_DENIED", message, "Only the owner of the gateway can grant it.");
}

/** How long a server's text counts for later calls of a principal without a session. */
const STEERED_MS = 30 * 60_000;
const MOST_STEERED = 10_000;

/** Remembers servers whose text tried to steer the model, by the session of the face or by principal. */
class Steering {
  readonly #parts: Pick<GatewayParts, "asksAfterInjection" | "clock">;
  readonly #byPrincipal = new Map<string, { readonly servers: readonly string[]; readonly until: number }>();

  constructor(parts: Pick<GatewayParts, "asksAfterInjection" | "clock">) {
    this.#parts = parts;
  }

  of({ id }: Principal, conversation: CallSession | undefined): readonly string[] {
    if (!this.#parts.asksAfterInjection) return [];
    if (conversation) return conversation.memory.steeredBy;
    const { servers = [], until = 0 } = this.#byPrincipal.get(id) ?? {};
    return this.#parts.clock.monotonic() < until ? servers : [];
  }

  note({ outside, principal, conversation, session }: OperationCall, targets: readonly string[]): string[] {
    const steers = outside.filter(({ injection }) => injection.length > 0);
    if (steers.length === 0) return [];
    const read = session?.memory.results.filter(({ handle }) => targets.includes(handle)) ?? [];
    const servers = steers.flatMap(({ source }) =>
      source === "result" && read.length > 0 ? read.map(({ name }) => domainOf(name)) : source.split(", "),
    );
    if (conversation) conversation.update((memory) => noteSteering(memory, servers));
    else this.#remember(principal, servers);
    return [...new Set(steers.flatMap(({ injection }) => injection))];
  }

  #remember(principal: Principal, servers: readonly string[]): void {
    const all = [...new Set([...this.of(principal, undefined), ...servers])];
    const until = this.#parts.clock.monotonic() + STEERED_MS;
    this.#byPrincipal.delete(principal.id);
    this.#byPrincipal.set(principal.id, { servers: all, until });
    if (this.#byPrincipal.size > MOST_STEERED)
      this.#byPrincipal.delete(this.#byPrincipal.keys().next().value!);
  }
}

/** The same services without any record of the call. */
function withoutRecords(services: CallServices): CallServices {
  const { learning, discovery } = services;
  const nothing = () => {};
  return {
    ...services,
    discovery: { ...discovery, searched: nothing, used: nothing },
    ...(learning && { learning: { ...learning, note: nothing } }),
  };
}
