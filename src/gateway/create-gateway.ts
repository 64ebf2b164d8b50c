import { lazy } from "../base/util/lazy.ts";
import { reasonOf } from "../base/util/reason-of.ts";
import type { Pins } from "../core/access/pins.ts";
import type { PeopleUsage } from "../core/access/usage.ts";
import type { WaitingCalls } from "../core/access/waiting-calls.ts";
import { auditPins } from "../core/calls/auditor.ts";
import type { Approve } from "../core/calls/call-environment.ts";
import { toRegistry } from "../core/catalog/registry.ts";
import type { DomainDefinition, ToolArgs } from "../core/nouns/definition.ts";
import type { RecipeKeeper } from "../core/operations/operation.ts";
import { OPERATIONS, type OperationName, operationByAlias } from "../core/operations/operations.ts";
import { keepResult } from "../core/sessions/working-memory.ts";
import { keeperOf } from "../core/storage/result-keeper.ts";
import { isKnown, toCallSession, toSession } from "../core/storage/session-store.ts";
import { createMenu } from "../core/surfaces/menu.ts";
import type { RepeatedCalls } from "../search/learning/follow-ups.ts";
import type { RecipeSource } from "../sources/recipes/recipe-source.ts";
import { createDomainSources, gatewayDefaults } from "./defaults.ts";
import { type FaceApi, type Observer, withCore } from "./face-api.ts";
import type {
  CallOptions,
  Gateway,
  GatewayOptions,
  GatewaySources,
  LifecycleOptions,
  OperationMethods,
  TypedGateway,
} from "./gateway-api.ts";
import { createRunner } from "./run-operation.ts";
import { createAvailability } from "./start/availability.ts";
import { CatalogStore } from "./start/catalog-store.ts";
import { CODE, SourceManager } from "./start/source-manager.ts";

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
export function createGateway<const D extends readonly DomainDefinition[] = readonly DomainDefinition[]>(
  options: GatewayOptions<D>,
): TypedGateway<ToolArgs<D>> {
  const assembly = assemble(options);
  const core = toCore(assembly);
  return withCore(toGateway(assembly, core), core);
}

/** Everything that a gateway is made of. */
type Assembly = ReturnType<typeof assemble>;

function assemble(options: GatewayOptions) {
  const parts = gatewayDefaults(options);
  const { index, pins, recipes, publish } = parts;
  const domains = createDomainSources(options, parts);
  const live = new CatalogStore({ id: CODE, content: domains.content }, index, pins, publish);
  const sources = new SourceManager(live, domains.sources(), parts.calls, publish);
  const catalog = createAvailability(live, sources.begin, pins);
  const observers = new Set<Observer>();
  /** Answers questions when the options have no `approve`. */
  const questions: Questions = { answer: nobodyAnswers };
  const runner = createRunner({
    ...parts,
    recipes: recipes && recipeKeeper(recipes, pins),
    search: {
      search: async (request) => {
        await live.searchable();
        return index.search(request);
      },
    },
    approve: options.approve ?? ((request, call) => questions.answer(request, call)),
    waiting: () => questions.waiting,
    usage: () => questions.usage,
    missingScope: options.missingScope,
    observers,
    catalog,
    failedSources: (principal) => sources.failed(principal),
  });
  return { options, parts, domains, live, sources, catalog, runner, observers, questions };
}

/** The gateway as applications use it. */
function toGateway(assembly: Assembly, { noteMenu, menuOf, audit }: FaceApi): Gateway {
  const { parts, domains, live, sources, catalog } = assembly;
  const { available } = catalog;
  const { run } = assembly.runner;
  const { name, owner, pins, index, sessions, ledger, services, notice } = parts;
  const { learning } = services;
  const searchStatus = async () => (await index.status?.()) ?? { mode: "lexical" as const };
  const methods = (Object.keys(OPERATIONS) as OperationName[]).map((operation) => [
    operation,
    (input: unknown, options?: CallOptions) => run(operation, input, options),
  ]);
  return {
    ...(Object.fromEntries(methods) as OperationMethods),
    name,
    call: ((spelling: string, input: unknown, options?: CallOptions) =>
      run(operationByAlias(spelling) ?? (spelling as OperationName), input, options)) as Gateway["call"],
    read: async (route, { params, ...options } = {}) => {
      const { results, summary: _, ...answer } = await run("get", { routes: [{ route, params }] }, options);
      const [result] = results;
      return result?.ok ? { ...result.data, ...answer } : answer;
    },
    get version() {
      return live.current.catalog.version;
    },
    pins: services.audit ? auditPins(pins, services.audit, owner.id) : pins,
    menu: async ({ principal = owner, session, ...menu } = {}) => {
      const tools = await menuOf((await available("complete")).viewFor(principal), menu);
      if (session !== undefined) await noteMenu(tools, { principal, session });
      return [...tools];
    },
    view: async ({ principal = owner } = {}) => (await available("complete")).viewFor(principal),
    openSession: async ({ principal = owner, resume } = {}) =>
      resume !== undefined && (await isKnown(sessions, resume, principal.id))
        ? resume
        : sessions.open(principal.id),
    session: (handle, { principal = owner } = {}) => toSession(sessions, handle, principal.id),
    report: async ({ principal = owner, session } = {}) => {
      const { catalog: whole, viewFor } = await available("complete");
      const spent = async () =>
        session === undefined ? undefined : (await sessions.read(session, principal.id)).tokens;
      return {
        search: await searchStatus(),
        discovery: services.discovery.figures(),
        unmet: (await learning?.unmet()) ?? [],
        repeated: ((await learning?.repeated()) ?? []).map((calls) => ({
          ...calls,
          code: toDraftCode(calls),
        })),
        ledger: await ledger.report(viewFor(principal), spent),
        // Large, so it is built on first read.
        get registry() {
          return toRegistry(whole);
        },
      };
    },
    onChange: (listener) => live.onChange(listener),
    setDomains: async (definitions) => {
      await available("complete");
      await domains.setDomains(definitions, sources);
    },
    sources: toGatewaySources(assembly),
    ready: async () => {
      await available("searchable");
      await index.ready?.();
      return searchStatus();
    },
    close: lazy(async () => {
      catalog.end();
      parts.resultFiles?.close();
      await ledger.close();
      if (services.extractor.warning) notice("extraction-idle", services.extractor.warning);
      await Promise.all([learning?.close(), services.shapes.save()]);
      await Promise.all([parts.sandbox.close(), parts.recipeSandbox.close()]);
      await sources.close();
      await live.close();
      await audit?.flush().catch((error: unknown) => notice("audit-failed", reasonOf(error)));
    }),
  };
}

/** The part of the gateway that only faces use. */
function toCore({ options, parts, sources, catalog, runner, observers, questions }: Assembly): FaceApi {
  const { owner, sessions } = parts;
  const habitsOf: FaceApi["habitsOf"] = async ({ scopeKey, principal }) =>
    (await parts.services.learning?.habits({ scope: scopeKey, principal: principal.id })) ?? [];
  return {
    ...runner,
    clock: parts.clock,
    publish: parts.publish,
    view: async (need, principal = owner) => (await catalog.available(need, principal)).viewFor(principal),
    menuOf: async (view, menu) => createMenu(view, menu, await habitsOf(view)),
    habitsOf,
    approvals: parts.approvals,
    audit: options.audit?.store,
    sources: () => sources.inUse(),
    // Menus are counted later. If the session has ended by then, the menu counts only in the total.
    noteMenu: async (tools, { principal = owner, session, clientName } = {}) => {
      const shownTo = session ? await toCallSession(sessions, session, principal.id, () => {}) : undefined;
      parts.ledger.noteMenu(tools, shownTo);
      for (const observer of observers) observer.listed(tools, principal, clientName);
    },
    keep: async (text, name, { principal = owner, session } = {}) => {
      const { handle, needs, stored } = keeperOf(parts.results).keep(text, principal);
      await stored;
      if (session !== undefined) {
        const { update } = await toSession(sessions, session, principal.id);
        await update((memory) => keepResult(memory, { handle, name, needs }));
      }
      return handle;
    },
    observe: (observer) => {
      observers.add(observer);
      return () => void observers.delete(observer);
    },
    keepQuestions: (waiting) => {
      questions.waiting = waiting;
    },
    keptQuestions: () => questions.waiting,
    meter: (usage) => {
      questions.usage = usage;
      observers.add({
        called: ({ principal, traceId, tokens }) => usage.answered({ person: principal.id, traceId, tokens }),
        listed: () => {},
      });
    },
    usage: () => questions.usage,
    answerQuestions: (approve) => {
      questions.answer = approve;
      return () => {
        if (questions.answer === approve) questions.answer = nobodyAnswers;
      };
    },
  };
}

interface Questions {
  answer: Approve;
  waiting?: WaitingCalls;
  usage?: PeopleUsage;
}

const nobodyAnswers: Approve = () => false;

/** Approves a recipe exactly as it was saved: the file may change a moment later. */
function recipeKeeper(source: RecipeSource, pins: Pins): RecipeKeeper {
  return {
    check: source.check,
    keep: async (recipe) => {
      const { file, route, hash } = await source.save(recipe);
      const saved = () => pins.list().filter((pin) => pin.route === route && pin.hash === hash);
      return { file, approve: () => pins.approve({ pins: saved() }) };
    },
  };
}

/** Drafts a recipe for calls that are often made one after the other. */
function toDraftCode({ routes }: RepeatedCalls): string {
  const steps = routes.map(
    (route, at) => `const step${at + 1} = await call(${JSON.stringify(route)}, params.step${at + 1});`,
  );
  return [...steps, `return step${routes.length};`].join("\n");
}

/** The sources for applications. Every method waits until the gateway is ready. */
function toGatewaySources({ sources, domains, catalog }: Assembly): GatewaySources {
  const ready = () => catalog.available("complete");
  return {
    status: (async (id?: string) => {
      await ready();
      return id === undefined ? sources.list() : sources.status(id);
    }) as GatewaySources["status"],
    refresh: (async (target?: string | LifecycleOptions, options?: LifecycleOptions) => {
      await ready();
      if (typeof target === "string") return sources.refresh(target, options?.signal);
      return sources.refreshStale(target?.signal);
    }) as GatewaySources["refresh"],
    set: async (next) => {
      await ready();
      await domains.setSources(next, sources);
    },
    rebuild: async ({ signal } = {}) => {
      await ready();
      return sources.rebuild(signal);
    },
  };
}
