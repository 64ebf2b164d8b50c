import { join } from "node:path";
import { createRedact } from "../base/safety/redact.ts";
import { systemClock } from "../base/util/clock.ts";
import { createPins } from "../core/access/pins.ts";
import { createAuditor } from "../core/calls/auditor.ts";
import type { CallServices } from "../core/calls/call-environment.ts";
import type { DomainDefinition } from "../core/nouns/definition.ts";
import type { FetchContext } from "../core/nouns/pipeline.ts";
import type { Principal } from "../core/nouns/principal.ts";
import type { Source } from "../core/nouns/source.ts";
import type { Limits } from "../core/operations/operation.ts";
import type { Sandbox } from "../core/sandbox/sandbox.ts";
import { createExtractor } from "../core/sessions/extractor.ts";
import { createIdempotency } from "../core/storage/idempotency.ts";
import { ObservedShapes } from "../core/storage/observed-shapes.ts";
import { createPlanStore } from "../core/storage/plan-store.ts";
import { ResultFiles } from "../core/storage/result-files.ts";
import { createResultStore } from "../core/storage/result-store.ts";
import { createSessionStore } from "../core/storage/session-store.ts";
import { createSpentApprovals } from "../core/storage/spent-approvals.ts";
import { openSqliteStorage } from "../core/storage/sql-storage.ts";
import { createDiscovery } from "../core/telemetry/discovery.ts";
import { isHeard, type NoticeEvent, type Publish, publish } from "../core/telemetry/events.ts";
import { createEmbeddedIndex } from "../search/embedded-index.ts";
import { createLearning, type Learning } from "../search/learning/learning.ts";
import { createStaticEmbedder } from "../search/vectors/static-embedder.ts";
import { fromDomains } from "../sources/code/from-domains.ts";
import { createContentSources } from "../sources/content/content-source.ts";
import { createContentStore } from "../sources/content/content-store.ts";
import { createRecipeSource } from "../sources/recipes/recipe-source.ts";
import type { GatewayOptions } from "./gateway-api.ts";
import { createLedger } from "./ledger.ts";
import { InFlight } from "./start/availability.ts";
import { CODE, type SourceManager } from "./start/source-manager.ts";

const NOBODY: Principal = { id: "anonymous", scopes: [], allowWrite: false };

const DEFAULT_LIMITS: Limits = {
  askTokens: 700,
  resultTokens: 4_000,
  lookTokens: 500,
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

/** The parts of a gateway that are independent of its catalog. */
export type GatewayParts = ReturnType<typeof gatewayDefaults>;

/** Gateways created in this process, for their default names. */
let created = 0;

/** Takes the parts from the options and creates the missing ones. */
export function gatewayDefaults(options: GatewayOptions) {
  created += 1;
  const { cacheDirectory, storage, name = `gateway-${created}` } = options;
  const publishHere: Publish = (event) => publish(event, name);
  const notice = (kind: NoticeEvent["notice"], detail: string): void =>
    publishHere({ type: "notice", notice: kind, detail });
  const results = options.results ?? createResultStore(storage);
  const sessions = options.sessions ?? createSessionStore(storage);
  const clock = options.clock ?? systemClock;
  const learning = openLearning(options);
  const audit = options.audit && createAuditor(options.audit, (reason) => notice("audit-failed", reason));
  const services: CallServices = {
    extractor: createExtractor((detail) => notice("extraction-failed", detail)),
    idempotency:
      options.idempotency ??
      createIdempotency(results, storage && { open: storage, redact: createRedact([], { kinds: true }) }),
    shapes: new ObservedShapes(cacheDirectory && join(cacheDirectory, "shapes.db")),
    discovery: createDiscovery(publishHere),
    ...(learning && { learning }),
    ...(audit && { audit }),
  };
  return {
    name,
    publish: publishHere,
    notice,
    owner: options.principal ?? NOBODY,
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    ask: options.ask,
    asksAfterInjection: options.askAfterInjection ?? true,
    clock,
    index: options.index ?? createEmbeddedIndex({ embedder: createStaticEmbedder() }),
    pins: options.pins ?? createPins(),
    sessions,
    results,
    resultFiles: options.resultFiles === undefined ? undefined : new ResultFiles(options.resultFiles),
    plans: sessions.plans ?? createPlanStore(storage),
    approvals: options.approvals ?? createSpentApprovals(storage),
    services,
    ledger: createLedger(),
    calls: new InFlight(),
    sandbox: createLazySandbox(),
    recipeSandbox: createLazySandbox(),
    recipes: options.recipes === undefined ? undefined : createRecipeSource(options.recipes, clock),
  };
}

/** Opens the learning log. */
function openLearning({ learning = {}, storage }: GatewayOptions): Learning | undefined {
  if (learning === false) return undefined;
  const { log = storage, ...options } = learning;
  // Gateways that share a driver start at different times, and their menus have to be the same: no habits.
  if (typeof log !== "string")
    return { ...createLearning({ ...options, ...(log && { log }) }), habits: async () => [] };
  const file = openSqliteStorage(log);
  const learned = createLearning({ ...options, log: file.open });
  return { ...learned, close: () => learned.close().finally(file.close) };
}

/** A sandbox that loads with the first script. */
function createLazySandbox(): Sandbox {
  let loading: Promise<Sandbox> | undefined;
  const load = async () => (await import("../core/sandbox/create-sandbox.ts")).createSandbox();
  return {
    run: async (script, host, options) => {
      loading ??= load();
      return (await loading).run(script, host, options);
    },
    close: async () => (await loading)?.close(),
  };
}

const PROGRESS_MS = 100;

/** The sources of a gateway: domains in code with their pipelines, further sources, and its own fixed recipes. */
export function createDomainSources(
  { domains = [], sources = [], cacheDirectory }: GatewayOptions,
  { clock, notice, publish, recipes }: GatewayParts,
) {
  const fixed = recipes ? [recipes] : [];
  const environment = {
    store: createContentStore(cacheDirectory && join(cacheDirectory, "content")),
    clock,
    random: Math.random,
    onFailure: (detail: string) => notice("content-failed", detail),
    onProgress: createProgress(publish),
  };
  let pipelines = createContentSources(domains, environment);
  let others = sources;
  return {
    /** The content of the domains at the start. */
    content: fromDomains(domains),
    /** The pipelines of the present domains, then all other sources. */
    sources: (): readonly Source[] => [...pipelines, ...others, ...fixed],
    /** Replaces the domains. If one is invalid, nothing changes. */
    setDomains: async (definitions: readonly DomainDefinition[], live: SourceManager): Promise<void> => {
      const content = fromDomains(definitions);
      // The extractors of an invalid definition cannot be read.
      const next = content.errors?.length === 0 ? createContentSources(definitions, environment) : pipelines;
      await live.replace([...next, ...others, ...fixed], { [CODE]: content });
      pipelines = next;
    },
    /** Replaces the further sources. If one is invalid, nothing changes. */
    setSources: async (next: readonly Source[], live: SourceManager): Promise<void> => {
      await live.replace([...pipelines, ...next, ...fixed]);
      others = next;
    },
  };
}

/** Publishes progress at most ten times a second, and always the last step. */
function createProgress(publish: Publish) {
  let last = 0;
  return (source: string, { done, total, message }: Parameters<FetchContext["progress"]>[0]) => {
    if (!isHeard() || (done !== total && performance.now() - last < PROGRESS_MS)) return;
    last = performance.now();
    const seen = { ...(total !== undefined && { total }), ...(message !== undefined && { detail: message }) };
    publish({ type: "source", source, state: "loading", done, ...seen });
  };
}
