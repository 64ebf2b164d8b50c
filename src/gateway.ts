import { join } from "node:path";
import { createPins, type Pins } from "./access/pins.ts";
import { auditPins } from "./calls/audit-pins.ts";
import { createAuditor } from "./calls/auditor.ts";
import type { Approve } from "./calls/call-environment.ts";
import { toRegistry } from "./catalog/registry.ts";
import { createDomainSources, type DomainSources } from "./domain-sources.ts";
import type {
  CallOptions,
  Gateway,
  GatewayOptions,
  GatewaySources,
  LifecycleOptions,
  OperationMethods,
} from "./gateway-api.ts";
import { type Observer, withCore } from "./gateway-core.ts";
import { createLedger } from "./ledger.ts";
import { createLiveCatalog, type Generation, type LiveCatalog } from "./live-catalog.ts";
import { CODE, createLiveSources, type LiveSources } from "./live-sources.ts";
import type { Limits, RecipeKeeper } from "./operations/operation.ts";
import {
  OPERATIONS,
  type OperationName,
  type OperationSpelling,
  operationSpelt,
} from "./operations/operations.ts";
import { createRunner } from "./run-operation.ts";
import { createLazySandbox } from "./sandbox/lazy-sandbox.ts";
import type { Principal } from "./schema/principal.ts";
import { problem } from "./schema/problem.ts";
import { analyzeQuery, cutQuery } from "./search/analysis/analyze-query.ts";
import { createEmbeddedIndex } from "./search/embedded-index.ts";
import { createLearning } from "./search/learning/learning.ts";
import type { RepeatedCalls } from "./search/learning/repeats.ts";
import type { SearchIndex, SearchRequest } from "./search/port/search-index.ts";
import { createStaticEmbedder } from "./search/vectors/static-embedder.ts";
import { createExtractor } from "./session/extractor.ts";
import { createIdempotency } from "./session/idempotency.ts";
import { createMemorySessionStore } from "./session/memory-session-store.ts";
import { createObservedShapes } from "./session/observed-shapes.ts";
import { createMemoryPlanStore } from "./session/plan-store.ts";
import { keeperOf } from "./session/result-keeper.ts";
import { createResultStore } from "./session/result-store.ts";
import {
  type CallSession,
  isKnown,
  type SessionStore,
  toCallSession,
  toSession,
} from "./session/session-store.ts";
import { createSpentApprovals } from "./session/spent-approvals.ts";
import { keepResult } from "./session/working-memory.ts";
import { createRecipeSource, type RecipeSource } from "./sources/recipes/recipe-source.ts";
import { createShortcutChooser } from "./surfaces/choose-shortcuts.ts";
import { createMapMemo } from "./surfaces/map-memo.ts";
import { createMenu } from "./surfaces/menu.ts";
import { createDiscovery } from "./telemetry/discovery.ts";
import { type NoticeEvent, publish } from "./telemetry/events.ts";
import { systemClock } from "./util/clock.ts";
import { domainOf } from "./util/domain-of.ts";
import { createInFlight } from "./util/in-flight.ts";
import { reasonOf } from "./util/reason-of.ts";
import { loadTokenCounter } from "./util/tokens.ts";

const NOBODY: Principal = { id: "anonymous", scopes: [], allowWrite: false };

/** How long a call waits for the server that it names. */
const STARTING_MS = 10_000;
/** Choices of shortcuts: one for each principal and catalog. */
const KEPT_CHOICES = 256;

const DEFAULT_LIMITS: Limits = {
  askTokens: 700,
  resultTokens: 4_000,
  helpTokens: 1_500,
  answerBytes: Number.POSITIVE_INFINITY,
  callMs: 120_000,
  batchSize: 100,
  concurrency: 8,
  sessionTokens: Number.POSITIVE_INFINITY,
  scriptMs: 300_000,
  scriptCalls: 1_000,
  scriptBytes: 64 * 1024 * 1024,
};

/**
 * Builds a gateway: one catalog, one search, one way to run a call. See {@link defineDomain}.
 *
 * @throws CATALOG_INVALID with every error in the definitions
 * @example
 * ```ts
 * import { createGateway, defineDomain, defineTool } from "keyhole";
 *
 * const clock = defineTool({ name: "get_time", description: "Tell the time.", execute: () => "12:00" });
 * const office = defineDomain({ name: "office", description: "Office life.", tools: [clock] });
 *
 * const gateway = createGateway({ domains: [office] });
 * const found = await gateway.ask({ query: "what time is it?" });
 * console.log(found.text);
 * const answer = await gateway.exec({ op: "office.time.get", args: {} });
 * console.assert(answer.ok && answer.result === "12:00");
 * await gateway.close();
 * ```
 */
export function createGateway(options: GatewayOptions): Gateway {
  const { principal: owner = NOBODY } = options;
  const index = options.index ?? createEmbeddedIndex({ embedder: createStaticEmbedder() });
  const pins = options.pins ?? createPins();
  const sessions = options.sessions ?? createMemorySessionStore();
  const results = options.results ?? createResultStore();
  const discovery = createDiscovery();
  const idempotency = options.idempotency ?? createIdempotency(results);
  const approvals = options.approvals ?? createSpentApprovals();
  const learning = options.learning === false ? undefined : createLearning(termsOf, options.learning);
  const extractor = createExtractor((detail) => notice("extraction-failed", detail));
  const memo = options.cacheDirectory ? createMapMemo(join(options.cacheDirectory, "menus.json")) : undefined;
  const chooseShortcuts = createShortcutChooser(
    (scope, principal) => learning?.favourites(scope, principal) ?? [],
    options.cacheDirectory
      ? createMapMemo(join(options.cacheDirectory, "shortcuts.json"), KEPT_CHOICES)
      : undefined,
  );
  const shapes = createObservedShapes(options.cacheDirectory && join(options.cacheDirectory, "shapes.json"));
  const audit = options.audit && createAuditor(options.audit, (reason) => notice("audit-failed", reason));
  const ledger = createLedger(loadTokenCounter);
  const calls = createInFlight();
  const sandbox = createLazySandbox();
  const recipeSandbox = createLazySandbox();
  const clock = options.clock ?? systemClock;
  const recipes = options.recipes === undefined ? undefined : createRecipeSource(options.recipes, clock);
  const domains = createDomainSources(options, recipes ? [recipes] : []);
  const live = createLiveCatalog({ id: CODE, content: domains.content }, index, pins);
  const sources = createLiveSources(live, domains.sources(), calls);
  const observers = new Set<Observer>();
  let answerer: Approve = () => false;
  let closed = false;

  async function ready(): Promise<void> {
    if (closed) throw problem("CLOSED");
    await sources.ready();
  }

  /** Approvals that another gateway has revoked must not count from now on. */
  async function confirmed(): Promise<Generation> {
    if (pins.refresh) await pins.refresh();
    return live.current;
  }

  async function current(): Promise<Generation> {
    await ready();
    return confirmed();
  }

  async function started(addresses: readonly string[], principal: Principal): Promise<Generation> {
    const isStarted = ({ viewFor }: Generation) => {
      const { starting } = viewFor(principal);
      return starting.size === 0 || !addresses.some((address) => starting.has(domainOf(address)));
    };
    await live.until(isStarted, STARTING_MS);
    return confirmed();
  }

  async function allStarted(principal: Principal): Promise<void> {
    await live.until(({ viewFor }) => viewFor(principal).starting.size === 0, STARTING_MS);
  }

  const runner = createRunner({
    search: searchOf(index, live),
    sessions,
    results,
    plans: sessions.plans ?? createMemoryPlanStore(),
    sandbox,
    recipeSandbox,
    ...(recipes && { recipes: recipeKeeper(recipes, pins) }),
    services: {
      extractor,
      idempotency,
      shapes,
      discovery,
      ...(learning && { learning }),
      ...(audit && { audit }),
    },
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    approve: options.approve ?? ((request) => answerer(request)),
    principal: owner,
    missingScope: options.missingScope,
    ledger,
    calls,
    observers,
    ready,
    current: started,
    openSession: (handle, principal) => openSession(sessions, handle, principal),
  });

  /** A menu is counted later. If its session has ended by then, it counts only in the total. */
  async function noteMenu(
    tools: readonly object[],
    { principal = owner, session }: Shown = {},
  ): Promise<void> {
    const shownTo = session ? await toCallSession(sessions, session, principal.id, () => {}) : undefined;
    ledger.noteMenu(tools, shownTo);
    for (const observer of observers) observer.listed(tools, principal);
  }

  async function keep(
    text: string,
    name: string,
    { principal = owner, session }: Shown = {},
  ): Promise<string> {
    const { handle, needs, stored } = keeperOf(results).keep(text, principal);
    await stored;
    if (session !== undefined) {
      const { update } = await toSession(sessions, session, principal.id);
      await update((memory) => keepResult(memory, { handle, name, needs }));
    }
    return handle;
  }

  const searchStatus = async () => (await index.status?.()) ?? { mode: "lexical" as const };

  const operations = Object.fromEntries(
    Object.keys(OPERATIONS).map((name) => [
      name,
      (input: unknown, callOptions?: object) => runner.run(name as OperationName, input, callOptions),
    ]),
  ) as unknown as OperationMethods;

  const gateway: Gateway = {
    ...operations,
    run: ((first: OperationSpelling | object, second?: object, third?: CallOptions) => {
      if (typeof first !== "string") return runner.run("run", first, second);
      return runner.run(operationSpelt(first) ?? (first as OperationName), second, third);
    }) as Gateway["run"],
    get version() {
      return live.current.catalog.version;
    },
    pins: audit ? auditPins(pins, audit, owner.id) : pins,
    menu: async ({ principal = owner, session, ...menu } = {}) => {
      const view = (await current()).viewFor(principal);
      const shortcuts = await chooseShortcuts(view, menu);
      const tools = await createMenu(view, { loadCounter: loadTokenCounter, memo }, { ...menu, shortcuts });
      if (session !== undefined) await noteMenu(tools, { principal, session });
      return tools;
    },
    view: async ({ principal = owner } = {}) => (await current()).viewFor(principal),
    openSession: async ({ principal = owner, resume } = {}) =>
      resume !== undefined && (await isKnown(sessions, resume, principal.id))
        ? resume
        : sessions.open(principal.id),
    session: (handle, { principal = owner } = {}) => toSession(sessions, handle, principal.id),
    ledger: async ({ principal = owner, session } = {}) => {
      const { viewFor } = await current();
      if (session === undefined) return ledger.report(viewFor(principal));
      return ledger.report(
        viewFor(principal),
        async () => (await sessions.read(session, principal.id)).tokens,
      );
    },
    onChange: live.onChange,
    registry: () => toRegistry(live.current.catalog),
    searchStatus,
    discovery: discovery.figures,
    unmet: () => learning?.unmet() ?? [],
    repeated: () => (learning?.repeated() ?? []).map((calls) => ({ ...calls, code: toDraftCode(calls) })),
    setDomains: async (definitions) => {
      await current();
      await domains.setDomains(definitions, sources);
    },
    sources: gatewaySources(sources, domains, current),
    ready: async () => {
      await current();
      await live.searchable();
      await index.ready?.();
      return searchStatus();
    },
    close: async () => {
      closed = true;
      await ledger.close();
      if (extractor.warning) notice("extraction-idle", extractor.warning);
      await Promise.all([learning?.close(), shapes.save()]);
      await Promise.all([sandbox.close(), recipeSandbox.close()]);
      await sources.close();
      await live.close();
      await options.audit?.store.flush().catch((error: unknown) => notice("audit-failed", reasonOf(error)));
    },
  };
  return withCore(gateway, {
    clock,
    chooseShortcuts,
    ...runner,
    allStarted,
    noteMenu,
    keep,
    approvals,
    audit: options.audit?.store,
    sources: sources.inUse,
    observe: (observer) => {
      observers.add(observer);
      return () => void observers.delete(observer);
    },
    answerQuestions: (approve) => {
      answerer = approve;
      return () => {
        if (answerer === approve) answerer = () => false;
      };
    },
  });
}

type Shown = { readonly principal?: Principal; readonly session?: string };

/** A recipe is approved as it is saved, and not as its file may be a moment later. */
function recipeKeeper(source: RecipeSource, pins: Pins): RecipeKeeper {
  return {
    check: source.check,
    keep: async (recipe) => {
      const { file, route, hash } = await source.save(recipe);
      await pins.approve({ pins: pins.list().filter((pin) => pin.route === route && pin.hash === hash) });
      return file;
    },
  };
}

/** The beginning of a recipe for calls that are often made one after the other. */
function toDraftCode({ routes }: RepeatedCalls): string {
  const steps = routes.map(
    (route, at) => `const step${at + 1} = await call(${JSON.stringify(route)}, params.step${at + 1});`,
  );
  return [...steps, `return step${routes.length};`].join("\n");
}

/** Learning uses the same words of a query as search. */
function termsOf(query: string): string[] {
  return [...analyzeQuery(cutQuery(query)).terms.keys()];
}

/** Searches wait until the catalog is in the index. */
function searchOf(index: SearchIndex, live: Pick<LiveCatalog, "searchable">): Pick<SearchIndex, "search"> {
  return {
    search: async (request: SearchRequest) => {
      await live.searchable();
      return index.search(request);
    },
  };
}

/** Opens or resumes a session. A failing store does not fail the call. */
async function openSession(
  sessions: SessionStore,
  handle: string | undefined,
  principal: Principal,
): Promise<CallSession | undefined> {
  if (handle === undefined) return undefined;
  const known = handle === "new" ? await sessions.open(principal.id) : handle;
  return toCallSession(sessions, known, principal.id, (error) =>
    publish({ type: "notice", notice: "session-failed", detail: reasonOf(error), principal: principal.id }),
  );
}

function gatewaySources(
  sources: LiveSources,
  domains: DomainSources,
  current: () => Promise<unknown>,
): GatewaySources {
  const refresh = async (target?: string | LifecycleOptions, options?: LifecycleOptions) => {
    await current();
    if (typeof target === "string") return sources.refresh(target, options?.signal);
    return sources.restart(target?.signal);
  };
  return {
    status: (async (id?: string) => {
      await current();
      return id === undefined ? sources.list() : sources.status(id);
    }) as GatewaySources["status"],
    refresh: refresh as GatewaySources["refresh"],
    set: async (next) => {
      await current();
      await domains.setSources(next, sources);
    },
    rebuild: async ({ signal } = {}) => {
      await current();
      return sources.rebuild(signal);
    },
  };
}

function notice(kind: NoticeEvent["notice"], detail: string): void {
  publish({ type: "notice", notice: kind, detail });
}
