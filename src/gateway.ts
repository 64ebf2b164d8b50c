import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { z } from "zod";
import { createPins } from "./access/pins.ts";
import { toRegistry } from "./catalog/registry.ts";
import type { Answered, CallOptions, Gateway, GatewayOptions } from "./gateway-api.ts";
import { createLiveCatalog, type Generation } from "./live-catalog.ts";
import { CODE, createLiveSources } from "./live-sources.ts";
import { errorText, toErrorAnswer } from "./operations/answer-parts.ts";
import { budgetOf } from "./operations/budget-of.ts";
import { createLedger } from "./operations/ledger.ts";
import { createMapMemo } from "./operations/map-memo.ts";
import { createMenu } from "./operations/menu.ts";
import type { Limits, Operation, OperationContext } from "./operations/operation.ts";
import { OPERATIONS } from "./operations/operations.ts";
import { asKnownProblem } from "./operations/run-entry.ts";
import type { FetchContext } from "./schema/pipeline.ts";
import type { Principal } from "./schema/principal.ts";
import { isProblem, problem } from "./schema/problem.ts";
import { analyzeQuery, cutQuery } from "./search/analysis/analyze-query.ts";
import { createEmbeddedIndex } from "./search/embedded-index.ts";
import { createLearning } from "./search/learning/learning.ts";
import type { SearchRequest } from "./search/search-index.ts";
import { createStaticEmbedder } from "./search/vectors/static-embedder.ts";
import { createExtractor } from "./session/extractor.ts";
import { createIdempotency } from "./session/idempotency.ts";
import { createMemorySessionStore } from "./session/memory-session-store.ts";
import { createResultStore } from "./session/result-store.ts";
import { isKnown, type Session, toLenientSession, toSession } from "./session/session-store.ts";
import { fromDomains } from "./sources/code/from-domains.ts";
import { contentSources } from "./sources/content/content-sources.ts";
import { createContentStore } from "./sources/content/content-store.ts";
import { argumentShape } from "./telemetry/argument-shape.ts";
import { isHeard, publish } from "./telemetry/events.ts";
import { beginSpan } from "./telemetry/trace-context.ts";
import { systemClock } from "./util/clock.ts";
import { createInFlight } from "./util/in-flight.ts";
import { reasonOf } from "./util/reason-of.ts";
import { loadTokenCounter } from "./util/tokens.ts";

const PROGRESS_MS = 100;
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
    search: {
      search: async (request: SearchRequest) => {
        await live.searchable();
        return index.search(request);
      },
    },
    sessions: options.sessions ?? createMemorySessionStore(),
    extractor: createExtractor((detail) => publish({ type: "notice", notice: "extraction-failed", detail })),
    results: options.results ?? createResultStore(),
    idempotency: createIdempotency<unknown>(),
    limits,
    ...(learning && { learning }),
    approve: options.approve ?? (() => false),
  };
  const ledger = createLedger(loadTokenCounter);
  const live = createLiveCatalog({ id: CODE, content: fromDomains(options.domains) }, index, pins);
  const around = {
    store: createContentStore(options.cacheDirectory && join(options.cacheDirectory, "content")),
    clock: options.clock ?? systemClock,
    random: Math.random,
    onFailure: (detail: string) => publish({ type: "notice", notice: "content-failed", detail }),
    onProgress: createProgress(),
  };
  const calls = createInFlight();
  let pipelines = contentSources(options.domains, around);
  let others = options.sources ?? [];
  const sources = createLiveSources(live, [...pipelines, ...others], calls);
  let closed = false;

  function sessionOf(handle: string | undefined, principal: Principal): Session | undefined {
    if (handle === undefined) return undefined;
    const known = handle === "new" ? shared.sessions.open(principal.id) : handle;
    return toLenientSession(shared.sessions, known, principal.id, (error) =>
      publish({ type: "notice", notice: "session-failed", detail: reasonOf(error), principal: principal.id }),
    );
  }

  /** A menu is counted later, when its session may be over: then it counts in all only. */
  function noteMenu(tools: readonly object[], session: string | undefined, principal: Principal): void {
    const shownTo = session && toLenientSession(shared.sessions, session, principal.id, () => {});
    ledger.noteMenu(tools, shownTo || undefined);
  }

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
      discovers,
      toText,
      client,
      trace: given,
    }: CallOptions = {},
  ): Promise<z.output<O> & Answered> {
    const started = performance.now();
    const leave = calls.enter();
    const startedAt = Date.now();
    const id = randomUUID();
    const traceId = `tr_${id}`;
    const { span, trace } = beginSpan(given, id);
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
        ...(span && { span }),
        startedAt,
      });
    let session: Session | undefined;
    try {
      const [{ viewFor, remember }, countTokens] = await Promise.all([current(), loadTokenCounter()]);
      const parsed = operation.input.safeParse(input);
      if (!parsed.success) throw invalidInput(operation.name, parsed.error);
      const named = (parsed.data as { session?: string }).session;
      session = sessionOf(named ?? implied, principal);
      const budget = await budgetOf(
        session,
        { ...limits, ...callLimits },
        operation.targets(parsed.data),
        ledger,
      );
      const context: OperationContext = {
        ...shared,
        ...(approve && { approve }),
        ...budget,
        ...(client && { client }),
        ...(trace && { trace }),
        getMayWrite,
        ...(discovers !== undefined && { discovers }),
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
      const text = toText?.(output as object) ?? operation.toText(output);
      const tokens = isHeard() ? countTokens(text) : undefined;
      if (tokens !== undefined) {
        report(operation.outcome(output), tokens, operation.targets(parsed.data), session?.handle);
      }
      const asides = operation.asides?.(output, context) ?? [];
      ledger.note({ cause: operation.cause, text, asides, session, tokens }, countTokens);
      return { ...(output as object), text } as z.output<O> & Answered;
    } catch (error) {
      report(isProblem(error) ? error.code : "INTERNAL", 0);
      const refusal = toErrorAnswer(asKnownProblem(error, operation.name), "root");
      const refused = { cause: operation.cause, text: errorText(refusal), asides: [], session };
      void loadTokenCounter().then(
        (countTokens) => ledger.note(refused, countTokens),
        () => {},
      );
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
    menu: async ({ principal = options.principal ?? NOBODY, session, ...menuOptions } = {}) => {
      const { viewFor } = await current();
      const tools = await createMenu(
        viewFor(principal),
        { loadCounter: loadTokenCounter, memo },
        menuOptions,
      );
      if (session !== undefined) noteMenu(tools, session, principal);
      return tools;
    },
    noteMenu: (tools, { principal = options.principal ?? NOBODY, session } = {}) =>
      noteMenu(tools, session, principal),
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
      return sources.restart(signal);
    },
    wipeIndexAndRebuild: async ({ signal } = {}) => {
      await current();
      return sources.rebuild(signal);
    },
    ready: async () => {
      await current();
      await live.searchable();
    },
    close: async () => {
      closed = true;
      await ledger.close();
      const { warning } = shared.extractor;
      if (warning) publish({ type: "notice", notice: "extraction-idle", detail: warning });
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
