import { join } from "node:path";
import { createPins } from "./access/pins.ts";
import { createAuditor } from "./calls/auditor.ts";
import type { CallServices } from "./calls/call-environment.ts";
import type { GatewayOptions } from "./gateway-api.ts";
import { createLedger } from "./ledger.ts";
import type { Limits } from "./operations/operation.ts";
import { createLazySandbox } from "./sandbox/lazy-sandbox.ts";
import type { Principal } from "./schema/principal.ts";
import { analyzeQuery, cutQuery } from "./search/analysis/analyze-query.ts";
import { createEmbeddedIndex } from "./search/embedded-index.ts";
import { createLearning } from "./search/learning/learning.ts";
import { createStaticEmbedder } from "./search/vectors/static-embedder.ts";
import { createExtractor } from "./session/extractor.ts";
import { createIdempotency } from "./session/idempotency.ts";
import { createMemorySessionStore } from "./session/memory-session-store.ts";
import { createObservedShapes } from "./session/observed-shapes.ts";
import { createMemoryPlanStore } from "./session/plan-store.ts";
import { createResultStore } from "./session/result-store.ts";
import { createSpentApprovals } from "./session/spent-approvals.ts";
import { createRecipeSource } from "./sources/recipes/recipe-source.ts";
import { createShortcutChooser } from "./surfaces/choose-shortcuts.ts";
import { createMapMemo } from "./surfaces/map-memo.ts";
import { createDiscovery } from "./telemetry/discovery.ts";
import { type NoticeEvent, publish } from "./telemetry/events.ts";
import { systemClock } from "./util/clock.ts";
import { createInFlight } from "./util/in-flight.ts";
import { loadTokenCounter } from "./util/tokens.ts";

const NOBODY: Principal = { id: "anonymous", scopes: [], allowWrite: false };

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

/** The parts of a gateway that do not depend on its catalog. */
export type GatewayParts = ReturnType<typeof createParts>;

/** Takes the parts that the options bring, and makes the others. */
export function createParts(options: GatewayOptions) {
  const inCache = (file: string) => options.cacheDirectory && join(options.cacheDirectory, file);
  const memoIn = (file: string, most?: number) => {
    const path = inCache(file);
    return path === undefined ? undefined : createMapMemo(path, most);
  };
  const results = options.results ?? createResultStore();
  const sessions = options.sessions ?? createMemorySessionStore();
  const clock = options.clock ?? systemClock;
  const learning = options.learning === false ? undefined : createLearning(termsOf, options.learning);
  const favourites = (scope: string, principal: string) => learning?.favourites(scope, principal) ?? [];
  const audit = options.audit && createAuditor(options.audit, (reason) => notice("audit-failed", reason));
  const services: CallServices = {
    extractor: createExtractor((detail) => notice("extraction-failed", detail)),
    idempotency: options.idempotency ?? createIdempotency(results),
    shapes: createObservedShapes(inCache("shapes.json")),
    discovery: createDiscovery(),
    ...(learning && { learning }),
    ...(audit && { audit }),
  };
  return {
    owner: options.principal ?? NOBODY,
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    clock,
    index: options.index ?? createEmbeddedIndex({ embedder: createStaticEmbedder() }),
    pins: options.pins ?? createPins(),
    sessions,
    results,
    plans: sessions.plans ?? createMemoryPlanStore(),
    approvals: options.approvals ?? createSpentApprovals(),
    services,
    ledger: createLedger(loadTokenCounter),
    calls: createInFlight(),
    sandbox: createLazySandbox(),
    recipeSandbox: createLazySandbox(),
    recipes: options.recipes === undefined ? undefined : createRecipeSource(options.recipes, clock),
    menus: memoIn("menus.json"),
    chooseShortcuts: createShortcutChooser(favourites, memoIn("shortcuts.json", KEPT_CHOICES)),
  };
}

export function notice(kind: NoticeEvent["notice"], detail: string): void {
  publish({ type: "notice", notice: kind, detail });
}

/** Learning uses the same words of a query as search. */
function termsOf(query: string): string[] {
  return [...analyzeQuery(cutQuery(query)).terms.keys()];
}
