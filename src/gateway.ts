import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { z } from "zod";
import { createPins, type Pins } from "./access/pins.ts";
import type { View } from "./access/view.ts";
import { type Registry, toRegistry } from "./catalog/registry.ts";
import { createLiveCatalog, type Generation } from "./live-catalog.ts";
import { createLedger, type LedgerReport } from "./operations/ledger.ts";
import { createMapMemo } from "./operations/map-memo.ts";
import { createMenu, type MenuOptions, type MenuTool } from "./operations/menu.ts";
import type { ApprovalRequest, Limits, Operation, OperationContext } from "./operations/operation.ts";
import { OPERATIONS } from "./operations/operations.ts";
import { loadTokenCounter } from "./render/tokens.ts";
import type { DomainDefinition } from "./schema/definition.ts";
import type { CallingClient } from "./schema/entry.ts";
import type { Principal } from "./schema/principal.ts";
import { isProblem, problem } from "./schema/problem.ts";
import type { Source } from "./schema/source.ts";
import { analyzeQuery, cutQuery } from "./search/analysis/analyze-query.ts";
import { createEmbeddedIndex } from "./search/embedded-index.ts";
import { createLearning, type LearningOptions } from "./search/learning/learning.ts";
import type { UnmetQuery } from "./search/learning/learning-state.ts";
import type { SearchIndex, SearchStatus } from "./search/search-index.ts";
import { createStaticEmbedder } from "./search/vectors/static-embedder.ts";
import { createExtractor, type ExtractionHealth } from "./session/extractor.ts";
import { createIdempotency } from "./session/idempotency.ts";
import { createMemorySessionStore } from "./session/memory-session-store.ts";
import { createResultStore } from "./session/result-store.ts";
import {
  isKnown,
  isSessionAddress,
  type Session,
  type SessionStore,
  toLenientSession,
  toSession,
} from "./session/session-store.ts";
import { sumTokens } from "./session/tokens-by-cause.ts";
import { fromDomains } from "./sources/code/from-domains.ts";
import { loadContent } from "./sources/content/load-content.ts";
import { argumentShape } from "./telemetry/argument-shape.ts";
import { isHeard, publish } from "./telemetry/events.ts";
import { reasonOf } from "./util/reason-of.ts";

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
  /** Where what takes long to work out at a start is kept for the next one. Without it, nowhere. */
  readonly cacheDirectory?: string;
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
  noteMenu(tools: readonly MenuTool[], options?: Pick<CallOptions, "principal" | "session">): void;
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
  /** Resolves when everything that is loaded at start can be found. Calls wait for it by themselves. */
  ready(): Promise<void>;
  close(): Promise<void>;
}

/** What works, and how well. */
export interface Health {
  readonly extraction: ExtractionHealth;
}

const CODE = "code";
const CONTENT = "content";
const NOBODY: Principal = { id: "anonymous", scopes: [], allowWrite: false };

const DEFAULT_LIMITS: Limits = {
  askTokens: 700,
  resultTokens: 4_000,
  callMs: 60_000,
  batchSize: 100,
  concurrency: 8,
  sessionTokens: Number.POSITIVE_INFINITY,
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
    sessions: options.sessions ?? createMemorySessionStore(),
    extractor: createExtractor((detail) => publish({ type: "notice", notice: "extraction-failed", detail })),
    results: createResultStore(),
    idempotency: createIdempotency<unknown>(),
    limits,
    ...(learning && { learning }),
    approve: options.approve ?? (() => false),
  };
  const live = createLiveCatalog(
    { id: CODE, content: fromDomains(options.domains) },
    [contentOf(options.domains), ...(options.sources ?? [])],
    index,
    pins,
  );
  const ledger = createLedger(loadTokenCounter);
  let closed = false;

  function sessionOf(handle: string | undefined, principal: Principal): Session | undefined {
    if (handle === undefined) return undefined;
    const known = handle === "new" ? shared.sessions.open(principal.id) : handle;
    return toLenientSession(toSession(shared.sessions, known, principal.id), (error) =>
      publish({ type: "notice", notice: "session-failed", detail: reasonOf(error), principal: principal.id }),
    );
  }

  async function current(): Promise<Generation> {
    if (closed) throw problem("CLOSED");
    await live.ready();
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
    let session: Session | undefined;
    try {
      const [{ viewFor, remember }, countTokens] = await Promise.all([current(), loadTokenCounter()]);
      const parsed = operation.input.safeParse(input);
      if (!parsed.success) throw invalidInput(operation.name, parsed.error);
      const named = (parsed.data as { session?: string }).session;
      session = sessionOf(named ?? implied, principal);
      const budget = budgetOf(session, { ...limits, ...callLimits }, operation.targets(parsed.data));
      const context: OperationContext = {
        ...shared,
        ...(approve && { approve }),
        ...budget,
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
      const tokens = isHeard() ? countTokens(text) : undefined;
      if (tokens !== undefined) {
        report(operation.outcome(output), tokens, operation.targets(parsed.data), session?.handle);
      }
      const asides = operation.asides?.(output, context) ?? [];
      ledger.note({ cause: operation.cause, text, asides, session, tokens }, countTokens);
      return { ...(output as object), text } as z.output<O> & Answered;
    } catch (error) {
      report(isProblem(error) ? error.code : "INTERNAL", 0);
      throw error;
    }
  }

  /** What is left of a session's budget, divided by what is asked for at once; refuses where nothing is. */
  function budgetOf(session: Session | undefined, given: Limits, targets: readonly string[]) {
    if (!session || given.sessionTokens === Number.POSITIVE_INFINITY) return { limits: given };
    ledger.settle();
    const used = sumTokens(session.memory.tokens);
    const tokensLeft = given.sessionTokens - used;
    const { handle } = session;
    if (tokensLeft > 0) {
      const most = Math.max(1, Math.floor(tokensLeft / Math.max(1, targets.length)));
      return { limits: { ...given, resultTokens: Math.min(given.resultTokens, most) }, tokensLeft };
    }
    if (targets.length === 1 && isSessionAddress(targets[0]!)) return { limits: given };
    throw problem("BUDGET_EXCEEDED", { handle, used, limit: given.sessionTokens });
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
    menu: async ({ principal = options.principal ?? NOBODY, session, ...menuOptions } = {}) => {
      const { viewFor } = await current();
      const shownTo = sessionOf(session, principal);
      const tools = await createMenu(
        viewFor(principal),
        { loadCounter: loadTokenCounter, memo },
        menuOptions,
      );
      if (shownTo) ledger.noteMenu(tools, shownTo);
      return tools;
    },
    noteMenu: (tools, { principal = options.principal ?? NOBODY, session } = {}) =>
      ledger.noteMenu(tools, sessionOf(session, principal)),
    view: async ({ principal = options.principal ?? NOBODY } = {}) => (await current()).viewFor(principal),
    openSession: ({ principal = options.principal ?? NOBODY, resume } = {}) =>
      resume !== undefined && isKnown(shared.sessions, resume, principal.id)
        ? resume
        : shared.sessions.open(principal.id),
    session: (handle, { principal = options.principal ?? NOBODY } = {}) =>
      toSession(shared.sessions, handle, principal.id),
    ledger: async ({ principal = options.principal ?? NOBODY, session } = {}) => {
      const { viewFor } = await current();
      return ledger.report(viewFor(principal), sessionOf(session, principal));
    },
    health: async ({ principal = options.principal ?? NOBODY } = {}) => {
      const { viewFor } = await current();
      return { extraction: shared.extractor.health(viewFor(principal).entries) };
    },
    onChange: live.onChange,
    registry: () => toRegistry(live.current.catalog),
    searchStatus: async () => (await index.status?.()) ?? { mode: "lexical" },
    unmet: () => learning?.unmet() ?? [],
    replace: async (domains) => {
      await current();
      await live.update({
        [CODE]: fromDomains(domains),
        [CONTENT]: await loadContent(domains, contentFailed),
      });
    },
    ready: async () => void (await current()),
    close: async () => {
      closed = true;
      ledger.settle();
      const { warning } = shared.extractor;
      if (warning) publish({ type: "notice", notice: "extraction-idle", detail: warning });
      learning?.close();
      await live.close();
    },
  };
}

/** Learning sees queries by the words that search looks up. */
function termsOf(query: string): string[] {
  return [...analyzeQuery(cutQuery(query)).terms.keys()];
}

function contentOf(domains: readonly DomainDefinition[]): Source {
  return {
    id: CONTENT,
    contents: async function* () {
      yield await loadContent(domains, contentFailed);
    },
  };
}

function contentFailed(detail: string): void {
  publish({ type: "notice", notice: "content-failed", detail });
}

function invalidInput(operation: string, error: z.ZodError) {
  const reasons = error.issues
    .slice(0, 5)
    .map(({ path, message }) => `${path.join(".") || "input"}: ${message}`);
  return problem("INVALID_INPUT", { operation, reason: reasons.join("; ") });
}
