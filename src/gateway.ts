import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { z } from "zod";
import { createPins, type Pins } from "./access/pins.ts";
import type { View } from "./access/view.ts";
import { type Registry, toRegistry } from "./catalog/registry.ts";
import { createLiveCatalog, type Generation } from "./live-catalog.ts";
import { CODE, createLiveSources, type SourceStatus } from "./live-sources.ts";
import { createMapMemo } from "./operations/map-memo.ts";
import { createMenu, type MenuOptions, type MenuTool } from "./operations/menu.ts";
import type { ApprovalRequest, Limits, Operation, OperationContext } from "./operations/operation.ts";
import { OPERATIONS } from "./operations/operations.ts";
import { loadTokenCounter } from "./render/tokens.ts";
import type { DomainDefinition } from "./schema/definition.ts";
import type { CallingClient } from "./schema/entry.ts";
import type { FetchContext } from "./schema/pipeline.ts";
import type { Principal } from "./schema/principal.ts";
import { isProblem, problem } from "./schema/problem.ts";
import type { Source } from "./schema/source.ts";
import { analyzeQuery, cutQuery } from "./search/analysis/analyze-query.ts";
import { createEmbeddedIndex } from "./search/embedded-index.ts";
import { createLearning, type LearningOptions } from "./search/learning/learning.ts";
import type { UnmetQuery } from "./search/learning/learning-state.ts";
import type { SearchIndex, SearchStatus } from "./search/search-index.ts";
import { createStaticEmbedder } from "./search/vectors/static-embedder.ts";
import { createIdempotency } from "./session/idempotency.ts";
import { createResultStore } from "./session/result-store.ts";
import { createSessionStore } from "./session/session-store.ts";
import { fromDomains } from "./sources/code/from-domains.ts";
import { contentSources } from "./sources/content/content-sources.ts";
import { createContentStore } from "./sources/content/content-store.ts";
import { argumentShape } from "./telemetry/argument-shape.ts";
import { isHeard, publish } from "./telemetry/events.ts";
import { type Clock, systemClock } from "./util/clock.ts";
import { createInFlight } from "./util/in-flight.ts";

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
  readonly client?: CallingClient;
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
  /** The tools to show a model. */
  menu(options?: Pick<CallOptions, "principal"> & MenuOptions): Promise<MenuTool[]>;
  /** What a principal may see. */
  view(options?: Pick<CallOptions, "principal">): Promise<View>;
  /** Opens a session for a conversation whose calls need not name it; the answer is its handle. */
  openSession(options?: Pick<CallOptions, "principal">): string;
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
  restart(options?: LifecycleOptions): Promise<void>;
  /** Reads all sources again, whatever was kept of them, and indexes everything. What there was serves until then. */
  wipeIndexAndRebuild(options?: LifecycleOptions): Promise<void>;
  /** Resolves when everything that is loaded at start can be found. Calls wait for it by themselves. */
  ready(): Promise<void>;
  close(): Promise<void>;
}

const PROGRESS_MS = 100;
const NOBODY: Principal = { id: "anonymous", scopes: [], allowWrite: false };

const DEFAULT_LIMITS: Limits = {
  askTokens: 700,
  resultTokens: 4_000,
  callMs: 60_000,
  batchSize: 100,
  concurrency: 8,
};

/** Builds a gateway. Throws CATALOG_INVALID with everything that is wrong with the definitions. */
export function createGateway(options: GatewayOptions): Gateway {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const learning = options.learning === false ? undefined : createLearning(termsOf, options.learning);
  const index = options.index ?? createEmbeddedIndex({ embedder: createStaticEmbedder() });
  const pins = options.pins ?? createPins();
  const memo = options.cacheDirectory ? createMapMemo(join(options.cacheDirectory, "menus.json")) : undefined;
  const shared = {
    search: index,
    sessions: createSessionStore(),
    results: createResultStore(),
    idempotency: createIdempotency<unknown>(),
    limits,
    ...(learning && { learning }),
    approve: options.approve ?? (() => false),
  };
  const live = createLiveCatalog({ id: CODE, content: fromDomains(options.domains) }, index, pins);
  const around = {
    store: createContentStore(options.cacheDirectory && join(options.cacheDirectory, "content")),
    clock: options.clock ?? systemClock,
    random: Math.random,
    onFailure: (detail: string) => publish({ type: "notice", notice: "content-failed", detail }),
    onFailed: (source: string, detail: string) =>
      publish({ type: "source", source, state: "failed", detail }),
    onProgress: createProgress(),
  };
  const calls = createInFlight();
  let pipelines = contentSources(options.domains, around);
  let others = options.sources ?? [];
  const sources = createLiveSources(live, [...pipelines, ...others], calls);
  let closed = false;

  async function current(): Promise<Generation> {
    if (closed) throw problem("CLOSED");
    await sources.ready();
    return live.current;
  }

  async function call<I extends z.ZodType, O extends z.ZodType>(
    operation: Operation<I, O>,
    input: z.input<I>,
    {
      principal = options.principal ?? NOBODY,
      signal = new AbortController().signal,
      approve,
      session: implied,
      limits: callLimits,
      getMayWrite = false,
      client,
    }: CallOptions = {},
  ): Promise<z.output<O> & Answered> {
    const started = performance.now();
    const leave = calls.enter();
    const traceId = `tr_${randomUUID()}`;
    const report = (outcome: string, tokens: number, targets: readonly string[] = [], session?: string) =>
      publish({
        type: "operation",
        operation: operation.name,
        targets,
        principal: principal.id,
        ...(session && { session }),
        traceId,
        latencyMs: performance.now() - started,
        tokens,
        outcome,
        argumentShape: argumentShape(input) as Record<string, unknown>,
      });
    try {
      const [{ viewFor, remember }, countTokens] = await Promise.all([current(), loadTokenCounter()]);
      const parsed = operation.input.safeParse(input);
      if (!parsed.success) throw invalidInput(operation.name, parsed.error);
      const named = (parsed.data as { session?: string }).session;
      const handle = named ?? implied;
      const session = handle === undefined ? undefined : shared.sessions.open(handle, principal.id);
      const context: OperationContext = {
        ...shared,
        ...(approve && { approve }),
        ...(callLimits && { limits: { ...limits, ...callLimits } }),
        ...(client && { client }),
        getMayWrite,
        sessionImplied: named === undefined,
        view: viewFor(principal),
        countTokens,
        signal,
        traceId,
        remember,
        ...(session && { session }),
        notice: (notice, detail) =>
          publish({ type: "notice", notice, detail, traceId, principal: principal.id }),
      };
      const output = await operation.run(parsed.data, context);
      const text = operation.toText(output);
      if (isHeard()) {
        report(operation.outcome(output), countTokens(text), operation.targets(parsed.data), session?.handle);
      }
      return { ...(output as object), text } as z.output<O> & Answered;
    } catch (error) {
      report(isProblem(error) ? error.code : "INTERNAL", 0);
      throw error;
    } finally {
      leave();
    }
  }

  return {
    ask: (input, callOptions) => call(OPERATIONS.ask, input, callOptions),
    help: (input, callOptions) => call(OPERATIONS.help, input, callOptions),
    get: (input, callOptions) => call(OPERATIONS.get, input, callOptions),
    exec: (input, callOptions) => call(OPERATIONS.exec, input, callOptions),
    batch: (input, callOptions) => call(OPERATIONS.batch, input, callOptions),
    get version() {
      return live.current.catalog.version;
    },
    pins,
    menu: async ({ principal = options.principal ?? NOBODY, ...menuOptions } = {}) => {
      const { viewFor } = await current();
      return createMenu(viewFor(principal), { loadCounter: loadTokenCounter, memo }, menuOptions);
    },
    view: async ({ principal = options.principal ?? NOBODY } = {}) => (await current()).viewFor(principal),
    openSession: ({ principal = options.principal ?? NOBODY } = {}) =>
      shared.sessions.open("new", principal.id).handle,
    onChange: live.onChange,
    registry: () => toRegistry(live.current.catalog),
    searchStatus: async () => (await index.status?.()) ?? { mode: "lexical" },
    unmet: () => learning?.unmet() ?? [],
    replace: async (domains) => {
      await current();
      const content = fromDomains(domains);
      const before = pipelines;
      // A wrong definition has no extractors that could be read.
      if (content.errors?.length === 0) pipelines = contentSources(domains, around);
      await sources.replace([...pipelines, ...others], { [CODE]: content }).catch((error: unknown) => {
        pipelines = before;
        throw error;
      });
    },
    setSources: async (next) => {
      await current();
      const before = others;
      others = next;
      await sources.replace([...pipelines, ...others]).catch((error: unknown) => {
        others = before;
        throw error;
      });
    },
    sources: async () => {
      await current();
      return sources.list();
    },
    getSourceFreshness: async (id) => {
      await current();
      return sources.status(id);
    },
    refreshSource: async (id, { signal } = {}) => {
      await current();
      await sources.refresh(id, signal);
    },
    restart: async ({ signal } = {}) => {
      await current();
      await sources.restart(signal);
    },
    wipeIndexAndRebuild: async ({ signal } = {}) => {
      await current();
      await sources.rebuild(signal);
    },
    ready: async () => void (await current()),
    close: async () => {
      closed = true;
      learning?.close();
      await sources.close();
      await live.close();
    },
  };
}

/** Learning sees queries by the words that search looks up. */
function termsOf(query: string): string[] {
  return [...analyzeQuery(cutQuery(query)).terms.keys()];
}

/** Progress goes out now and then, and always when it is whole. */
function createProgress() {
  let last = 0;
  return (source: string, { done, total, message }: Parameters<FetchContext["progress"]>[0]) => {
    if (!isHeard() || (done !== total && performance.now() - last < PROGRESS_MS)) return;
    last = performance.now();
    const detail = message === undefined ? {} : { detail: message };
    publish({
      type: "source",
      source,
      state: "loading",
      done,
      ...(total !== undefined && { total }),
      ...detail,
    });
  };
}

function invalidInput(operation: string, error: z.ZodError) {
  const reasons = error.issues
    .slice(0, 5)
    .map(({ path, message }) => `${path.join(".") || "input"}: ${message}`);
  return problem("INVALID_INPUT", { operation, reason: reasons.join("; ") });
}
