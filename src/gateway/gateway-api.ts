import type { z } from "zod";
import type { Clock } from "../base/util/clock.ts";
import type { OpenStorage } from "../base/util/storage.ts";
import type { Pins } from "../core/access/pins.ts";
import type { View } from "../core/access/view.ts";
import type { AuditOptions } from "../core/calls/auditor.ts";
import type { Approve } from "../core/calls/call-environment.ts";
import type { Registry } from "../core/catalog/registry.ts";
import type { DomainDefinition } from "../core/nouns/definition.ts";
import type { Principal } from "../core/nouns/principal.ts";
import type { AskBefore } from "../core/nouns/question.ts";
import type { Source } from "../core/nouns/source.ts";
import type { CallTrace } from "../core/nouns/span-context.ts";
import type { ErrorAnswer } from "../core/operations/error-answer.ts";
import type { Limits, Operation } from "../core/operations/operation.ts";
import type {
  OPERATIONS,
  OperationName,
  OperationSpelling,
  SpeltOperation,
} from "../core/operations/operations.ts";
import type { Idempotency } from "../core/storage/idempotency.ts";
import type { ResultStore } from "../core/storage/result-store.ts";
import type { Session, SessionStore } from "../core/storage/session-store.ts";
import type { SpentApprovals } from "../core/storage/spent-approvals.ts";
import type { MenuOptions } from "../core/surfaces/menu.ts";
import type { MenuTool } from "../core/surfaces/native-tools.ts";
import type { DiscoveryFigures } from "../core/telemetry/discovery.ts";
import type { RepeatedCalls } from "../search/learning/follow-ups.ts";
import type { LearningOptions } from "../search/learning/learning.ts";
import type { UnmetQuery } from "../search/learning/learning-state.ts";
import type { SearchIndex, SearchStatus } from "../search/port/search-index.ts";
import type { LedgerReport } from "./ledger.ts";
import type { SourceStatus } from "./start/followed-source.ts";
import type { LifecycleResult } from "./start/source-manager.ts";

/** Options of {@link createGateway}. */
export interface GatewayOptions<D extends readonly DomainDefinition[] = readonly DomainDefinition[]> {
  /** Names the gateway in events. Default: `gateway-1`, `gateway-2` and so on, in the order of their creation. */
  readonly name?: string;
  /** Domains written in code. See {@link defineDomain}. Default: none. */
  readonly domains?: D;
  /** Default principal of calls. Default: anonymous, without scopes, read-only. */
  readonly principal?: Principal;
  /**
   * The code for the address of an entry whose scopes the caller lacks. `ACCESS_DENIED` reveals that the entry exists.
   * Either way, an event names the missing scope. Default: `NOT_FOUND`.
   */
  readonly missingScope?: "NOT_FOUND" | "ACCESS_DENIED";
  /** Called before a call that needs approval. Without it, such calls run dry or are refused. */
  readonly approve?: Approve;
  /**
   * Which calls need a person's approval of exactly that call: `never` (only tools with `requiresConfirmation`),
   * `destructive` (also every destructive tool), `writes` (also every tool that writes) or `always`. The `ask` of a
   * domain or source counts if it is stricter. Dry runs need no approval. Default: `destructive`, where the `ask` of a
   * domain or source may also be less strict.
   */
  readonly ask?: AskBefore;
  /**
   * Whether to ask a person before a call that writes, if text of another server earlier in the session reads like
   * instructions to a model. Default: true.
   */
  readonly askAfterInjection?: boolean;
  readonly limits?: Partial<Limits>;
  /**
   * Learning from use. Default: on, in `storage`. `log`: a SQLite file or a driver for it; with a file, later menus name
   * first the tools that their caller used. `false`: off.
   */
  readonly learning?: (Omit<LearningOptions, "log"> & { readonly log?: string | OpenStorage }) | false;
  /** Sources of further entries, besides the domains. */
  readonly sources?: readonly Source[];
  /** The search engine. Default: the embedded engine with the offline embedder. */
  readonly index?: SearchIndex;
  /** Store of approved outside definitions. Default: in memory, so approvals end with the process. */
  readonly pins?: Pins;
  /**
   * Driver for sessions, results, plans, idempotency keys, spent approvals and learning of this gateway, unless another
   * option brings a store for them. `describeStorage` of `keyhole/testing` tests a driver. Default: memory.
   */
  readonly storage?: OpenStorage;
  /** Store of sessions. Default: in memory. The gateway does not close it. */
  readonly sessions?: SessionStore;
  /** Store of results that are too large to show. Default: in memory. */
  readonly results?: ResultStore;
  /**
   * Folder for whole results beside their handles, for clients over stdio that read files of this machine. The owner
   * alone can read it; a file ends with its handle. Default: none.
   */
  readonly resultFiles?: string;
  /** The audit log: a record before and after each call. Default: none. See {@link createFileAuditStore}. */
  readonly audit?: AuditOptions;
  /** Runs calls with an idempotency key once. Default: in memory. */
  readonly idempotency?: Idempotency;
  /** Makes sure that an approval counts once. Default: in memory. */
  readonly approvals?: SpentApprovals;
  /**
   * Folder of recipes: scripts that `run` saves as tools, one Markdown file each. Any caller that may write may save
   * one. New and edited files wait for approval like every outside definition. Default: no recipes.
   */
  readonly recipes?: string;
  /** Folder for files that make the next start faster. Default: none. */
  readonly cacheDirectory?: string;
  /** Clock, for tests. Default: the system's. */
  readonly clock?: Clock;
}

/** Options of one call. */
export interface CallOptions {
  readonly principal?: Principal;
  readonly signal?: AbortSignal;
  /** Replaces the gateway's own `approve` for this call. */
  readonly approve?: Approve;
  /** Session of calls that name none, from `openSession`. Answers do not repeat it. */
  readonly session?: string;
  readonly limits?: Partial<Limits>;
  /** Trace that the call belongs to. Upstream servers receive it too. */
  readonly trace?: CallTrace;
}

/** Callers that want the same work at the same time share it. It is cancelled when all of them have left. */
export interface LifecycleOptions {
  readonly signal?: AbortSignal;
}

/** An operation's answer: data, text for the model, success. Failures are answers; only misuse throws. */
export type Answer<Output> = Output & { readonly text: string } & (
    | { readonly ok: true }
    | { readonly ok: false; readonly error: ErrorAnswer }
  );

type InputOf<O> = O extends Operation<infer I, infer _Outcome, infer _O> ? z.input<I> : never;
type OutputOf<O> = O extends Operation<infer _I, infer _Outcome, infer Out> ? z.input<Out> : never;

/** The input of one operation, by its name. */
export type OperationInput<N extends OperationName> = InputOf<(typeof OPERATIONS)[N]>;
/** The {@link Answer} of an operation. */
export type OperationAnswer<N extends OperationName> = Answer<OutputOf<(typeof OPERATIONS)[N]>>;

/** One method for each operation: `ask`, `help`, `get`, `exec`, `batch`, `run`. */
export type OperationMethods = {
  readonly [N in OperationName]: (
    input: OperationInput<N>,
    options?: CallOptions,
  ) => Promise<OperationAnswer<N>>;
};

/** The sources of a gateway, including those of its domains' extractors. */
export interface GatewaySources {
  /** Every source with its id and the age of its content. */
  status(): Promise<readonly SourceStatus[]>;
  /** @throws NOT_FOUND for an unknown id. */
  status(id: string): Promise<SourceStatus>;
  /**
   * Reads one source again and resolves when its content can be found. If that fails, the old content stays. Without an
   * id, reads every source that is not fresh: local content, content older than its TTL, failed sources.
   */
  refresh(id: string, options?: LifecycleOptions): Promise<void>;
  refresh(options?: LifecycleOptions): Promise<LifecycleResult>;
  /** Replaces the gateway's `sources`. Those with the same id and digest keep running; running calls finish. */
  set(sources: readonly Source[]): Promise<void>;
  /** Reads all sources again and indexes everything. The old content stays in use until then. */
  rebuild(options?: LifecycleOptions): Promise<LifecycleResult>;
}

/** Calls that were often made one after the other, with a script for them. */
export interface RepeatedSequence extends RepeatedCalls {
  readonly code: string;
}

/** The contents of a gateway, and how well it serves. */
export interface GatewayReport {
  /** The tools of the catalog as JSON for other programs. */
  readonly registry: Registry;
  /** Whether the catalog is searched by words alone, or by words and vectors. */
  readonly search: SearchStatus;
  /** How well searches worked: how many found something, led to a call, and were answered by words or vectors. */
  readonly discovery: DiscoveryFigures;
  /** Queries that led to no call, most frequent first. */
  readonly unmet: readonly UnmetQuery[];
  /**
   * Calls that at least three conversations made one after the other, by how much a script would save. `code` is the
   * draft of such a script, which `run` can save as a recipe.
   */
  readonly repeated: readonly RepeatedSequence[];
  /** Tokens put into the context of the session, or of all sessions, by cause. */
  readonly ledger: LedgerReport;
}

/** The answer of `read`: the content of one route. */
export type ReadAnswer = Answer<
  Partial<Extract<OperationAnswer<"get">["results"][number], { readonly ok: true }>["data"]>
>;

/** The input of `exec`. The op of a tool in code types the args. */
export type TypedExecInput<T, O> = Omit<OperationInput<"exec">, "op" | "args"> & {
  readonly op?: O;
} & (O extends keyof T
    ? Record<never, never> extends T[O]
      ? { readonly args?: T[O] }
      : { readonly args: T[O] }
    : { readonly args?: unknown });

/** A gateway with domains in code: `exec` types the args of their tools. See {@link ToolArgs}. */
export interface TypedGateway<T> extends Omit<Gateway, "exec"> {
  exec<const O extends (keyof T & string) | (string & Record<never, never>)>(
    input: TypedExecInput<T, O>,
    options?: CallOptions,
  ): Promise<OperationAnswer<"exec">>;
}

/** One catalog, one search, one way to run a call. Made by {@link createGateway}. */
export interface Gateway extends OperationMethods {
  /** Its name in events. */
  readonly name: string;
  /** Runs an operation by its name, also spelt `tool.help`, `tool.exec`, `tool.batch` or `tool.search`. */
  call<S extends OperationSpelling>(
    name: S,
    input: OperationInput<SpeltOperation<S>>,
    options?: CallOptions,
  ): Promise<OperationAnswer<SpeltOperation<S>>>;
  /** Loads one document, skill, prompt or stored result by its route or handle. */
  read(
    route: string,
    options?: CallOptions & { readonly params?: Readonly<Record<string, unknown>> },
  ): Promise<ReadAnswer>;
  /** Content hash of the current catalog. */
  readonly version: string;
  /** Approves definitions of upstream servers, and lists their changes. */
  readonly pins: Pins;
  /** The tools to show a model. The ledger counts them if `session` is set. */
  menu(options?: Pick<CallOptions, "principal" | "session"> & MenuOptions): Promise<MenuTool[]>;
  /** The part of the catalog that a principal may see. */
  view(options?: Pick<CallOptions, "principal">): Promise<View>;
  /** Opens a session and resolves to its handle. With `resume`, that session's handle if it still exists. */
  openSession(
    options?: Pick<CallOptions, "principal"> & { readonly resume?: string | undefined },
  ): Promise<string>;
  /** @throws UNKNOWN_HANDLE if the principal has no session with this handle. */
  session(handle: string, options?: Pick<CallOptions, "principal">): Promise<Session>;
  /** Reports what the gateway holds and how well it serves. The ledger covers the session, if one is named. */
  report(options?: Pick<CallOptions, "principal" | "session">): Promise<GatewayReport>;
  /** Called when the catalog changes. Returns unsubscribe. */
  onChange(listener: () => void): () => void;
  /**
   * Replaces the domains. Calls in flight finish on the old catalog.
   *
   * @throws CATALOG_INVALID with every invalid definition; the old domains stay.
   */
  setDomains(domains: readonly DomainDefinition[]): Promise<void>;
  readonly sources: GatewaySources;
  /**
   * Resolves when search finds everything loaded at the start; calls wait for it automatically. The status counts the
   * entries that still wait for slow vectors and are found by words alone until then.
   */
  ready(): Promise<SearchStatus>;
  close(): Promise<void>;
}
