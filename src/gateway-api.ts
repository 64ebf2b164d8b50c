import type { z } from "zod";
import type { Pins } from "./access/pins.ts";
import type { View } from "./access/view.ts";
import type { Registry } from "./catalog/registry.ts";
import type { LifecycleResult, SourceStatus } from "./live-sources.ts";
import type { LedgerReport } from "./operations/ledger.ts";
import type { MenuOptions, MenuTool } from "./operations/menu.ts";
import type { ApprovalRequest, Limits, Operation } from "./operations/operation.ts";
import type { OPERATIONS } from "./operations/operations.ts";
import type { DomainDefinition } from "./schema/definition.ts";
import type { CallingClient } from "./schema/entry.ts";
import type { Principal } from "./schema/principal.ts";
import type { Source } from "./schema/source.ts";
import type { CallTrace } from "./schema/span-context.ts";
import type { LearningOptions } from "./search/learning/learning.ts";
import type { UnmetQuery } from "./search/learning/learning-state.ts";
import type { SearchIndex, SearchStatus } from "./search/search-index.ts";
import type { ExtractionHealth } from "./session/extractor.ts";
import type { ResultStore } from "./session/result-store.ts";
import type { Session, SessionStore } from "./session/session-store.ts";
import type { Clock } from "./util/clock.ts";

export interface GatewayOptions {
  readonly domains: readonly DomainDefinition[];
  /** Who calls where a call does not say. Without it: nobody in particular, without scopes, reading only. */
  readonly principal?: Principal;
  /** Asked before a tool that requires confirmation runs. Without it such tools run dry only. */
  readonly approve?: (request: ApprovalRequest) => boolean | Promise<boolean>;
  readonly limits?: Partial<Limits>;
  /** What was used after which query lifts it next time. On, in memory, unless a log or `false` is given. */
  readonly learning?: LearningOptions | false;
  /** Where further entries come from, beside the domains. */
  readonly sources?: readonly Source[];
  /** What the catalog is searched with. Without it, the embedded engine with the offline embedder. */
  readonly index?: SearchIndex;
  /** What was approved of definitions from outside. Without it: nothing, until approved in this process. */
  readonly pins?: Pins;
  /** Where sessions are kept. Without it, in memory. Whoever made the store closes it. */
  readonly sessions?: SessionStore;
  /** Where results are kept that are too large to show. Without it, in memory. */
  readonly results?: ResultStore;
  /** Where what takes long to work out at a start is kept for the next one. Without it, nowhere. */
  readonly cacheDirectory?: string;
  /** What time it is, for tests. Default the clock of the machine. */
  readonly clock?: Clock;
}

export interface CallOptions {
  readonly principal?: Principal;
  readonly signal?: AbortSignal;
  /** Decides on tools that require confirmation in the place of the gateway's own `approve`. */
  readonly approve?: GatewayOptions["approve"];
  /** The session of calls that name none, from `openSession`; answers do not repeat it. */
  readonly session?: string;
  readonly limits?: Partial<Limits>;
  /** Lets `get` run tools that write too, for principals that may write: for surfaces without `exec`. */
  readonly getMayWrite?: boolean;
  /** So many of the hits of an `ask` count as discovered, and bring their rules; the others are only named. */
  readonly discovers?: number;
  /** Writes the answer for the model, where a face says it in other words; the ledger counts those. */
  readonly toText?: (answer: object) => string;
  readonly client?: CallingClient;
  /** The trace that the call belongs to; upstreams that it reaches are told. */
  readonly trace?: CallTrace;
}

/** Calls that come while the same work is under way join it; it is cancelled when all have left. */
export interface LifecycleOptions {
  readonly signal?: AbortSignal;
}

type Run<O> =
  O extends Operation<infer I, infer Out>
    ? (input: z.input<I>, options?: CallOptions) => Promise<z.output<Out> & Answered>
    : never;

/** What every answer carries beside its data. */
export interface Answered {
  /** The answer as a model reads it. */
  readonly text: string;
}

export interface Gateway {
  readonly ask: Run<typeof OPERATIONS.ask>;
  readonly help: Run<typeof OPERATIONS.help>;
  readonly get: Run<typeof OPERATIONS.get>;
  readonly exec: Run<typeof OPERATIONS.exec>;
  readonly batch: Run<typeof OPERATIONS.batch>;
  /** Content hash of the catalog in use. */
  readonly version: string;
  /** Approves what upstream servers define, and shows how it changed. */
  readonly pins: Pins;
  /** The tools to show a model. The ledger counts them where they are for a session. */
  menu(options?: Pick<CallOptions, "principal" | "session"> & MenuOptions): Promise<MenuTool[]>;
  /** Tells the ledger of a menu that is shown again. */
  noteMenu(tools: readonly object[], options?: Pick<CallOptions, "principal" | "session">): void;
  /** What a principal may see. */
  view(options?: Pick<CallOptions, "principal">): Promise<View>;
  /**
   * Opens a session for a conversation whose calls need not name it; the answer is its handle. With
   * `resume` it is that session again, as long as it is there.
   */
  openSession(options?: Pick<CallOptions, "principal"> & { readonly resume?: string | undefined }): string;
  /** A session with what it remembers. Refuses a handle that the principal does not have. */
  session(handle: string, options?: Pick<CallOptions, "principal">): Session;
  /** The tokens put into the context of a session, or of all of them, by cause. */
  ledger(options?: Pick<CallOptions, "principal" | "session">): Promise<LedgerReport>;
  /** Whether all is well, as far as the principal may see it. */
  health(options?: Pick<CallOptions, "principal">): Promise<Health>;
  /** Calls the listener when the catalog has become another one; the answer stops it. */
  onChange(listener: () => void): () => void;
  registry(): Registry;
  /** How the catalog is searched now: by words alone, or by words and vectors. */
  searchStatus(): Promise<SearchStatus>;
  /** Queries that nothing shown has met, most often asked first. */
  unmet(): readonly UnmetQuery[];
  /** Puts a new catalog in place of the old one. Calls in flight finish on the old one; a wrong one changes nothing. */
  replace(domains: readonly DomainDefinition[]): Promise<void>;
  /**
   * Puts these in the place of the gateway's `sources`. Those of the same id and digest run on; calls in flight
   * finish with those that go, which then end by themselves.
   */
  setSources(sources: readonly Source[]): Promise<void>;
  /** Every source, also those of the domains' extractors, with its id and how old what it has is. */
  sources(): Promise<readonly SourceStatus[]>;
  getSourceFreshness(id: string): Promise<SourceStatus>;
  /** Reads one source again and resolves when what it found can be found; if it fails, what it had stays. */
  refreshSource(id: string, options?: LifecycleOptions): Promise<void>;
  /** Reads again what is not fresh: local content, what is older than its TTL, what failed. */
  restart(options?: LifecycleOptions): Promise<LifecycleResult>;
  /** Reads all sources again, whatever was kept of them, and indexes everything. What there was serves until then. */
  wipeIndexAndRebuild(options?: LifecycleOptions): Promise<LifecycleResult>;
  /** Resolves when everything that is loaded at start can be found. Calls wait for it by themselves. */
  ready(): Promise<void>;
  close(): Promise<void>;
}

/** What works, and how well. */
export interface Health {
  readonly extraction: ExtractionHealth;
}
