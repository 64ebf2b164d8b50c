import { z } from "zod";
import { problem } from "../../../base/problems/problem.ts";
import { hideSecrets } from "../../../base/safety/known-secrets.ts";
import { loadTokenCounter } from "../../../base/tokens/tokens.ts";
import { PROGRAM_VERSION } from "../../../base/util/program-version.ts";
import type { View } from "../../../core/access/view.ts";
import type { Principal } from "../../../core/nouns/principal.ts";
import { OPERATIONS, type OperationName } from "../../../core/operations/operations.ts";
import { countMenu } from "../../../core/surfaces/menu.ts";
import { callOperation } from "../../../gateway/toolbox.ts";
import type { AgentsAnswer } from "./api-audit-types.ts";
import type {
  Conversation,
  ConversationStep,
  MeAnswer,
  NoSession,
  OverviewAnswer,
  PrincipalsAnswer,
  SessionAnswer,
  SessionsAnswer,
  SettingsAnswer,
  UnmetAnswer,
} from "./api-types.ts";
import { waitingServers } from "./approvals.ts";
import { type ConsoleParts, countKinds } from "./console-parts.ts";
import {
  ADMIN_SCOPE,
  defineAdminEndpoint,
  defineEndpoint,
  type Endpoint,
  type EndpointCall,
  isAdmin,
} from "./endpoint.ts";

/** The gateway itself: its operations, its callers and their conversations, its figures and settings. */
export function gatewayEndpoints(parts: ConsoleParts): Endpoint[] {
  return [
    operationEndpoints,
    peopleEndpoints,
    figureEndpoints,
    sessionEndpoints,
    agentEndpoints,
    settingsEndpoints,
  ].flatMap((endpoints) => endpoints(parts));
}

/**
 * One endpoint for each operation; `run` only where the surface has it. Answers are those of the gateway, with the
 * tokens of their text.
 */
function operationEndpoints(parts: ConsoleParts): Endpoint[] {
  const shown = Object.entries(OPERATIONS).filter(([name]) => name !== "run" || parts.runsScripts);
  return shown.map(([name, { title, input, output }]) =>
    defineEndpoint(`POST /api/${name}`, {
      title: `${title}. The query string may name a principal to look as: \`as\`. Then tools run dry.`,
      input: input as z.ZodType,
      output: output as z.ZodType,
      readsInput: true,
      handle: (call) => run(name as OperationName, call, parts),
    }),
  );
}

async function run(operation: OperationName, call: EndpointCall, parts: ConsoleParts): Promise<object> {
  const { request, input, signal } = call;
  const as = new URLSearchParams(request.url?.split("?", 2)[1] ?? "").get("as") ?? undefined;
  const { gateway, principal } = await parts.enter(await seenAs(parts, call.principal, as));
  if (principal.seesAs !== undefined && operation === "run")
    throw problem("SEES_ONLY", { name: "The script" });
  const { text, data } = await callOperation(
    gateway,
    { operation, input },
    {
      principal,
      signal,
      ...(((await parts.isPerson(call)) || principal.seesAs !== undefined) && { forPerson: true }),
    },
  );
  const countTokens = await loadTokenCounter();
  return { ...(data as object), text, tokens: countTokens(text) };
}

/**
 * The caller, or the caller as it looks through the rights of the principal that `as` names.
 *
 * @throws ADMIN_NEEDED, NOT_FOUND
 */
async function seenAs(
  { principals }: Pick<ConsoleParts, "principals">,
  caller: Principal,
  as: string | undefined,
): Promise<Principal> {
  if (as === undefined || as === caller.id) return caller;
  if (!isAdmin(caller)) throw problem("ADMIN_NEEDED", { name: "as", scope: ADMIN_SCOPE });
  const principal = (await principals()).find(({ id }) => id === as);
  if (!principal) throw problem("NOT_FOUND", { name: `principal ${as}` });
  const { scopes, profile } = principal;
  return { id: caller.id, scopes, allowWrite: false, seesAs: as, ...(profile !== undefined && { profile }) };
}

/** Tells which addresses a viewer may see: entries of its View, and the domains and groups above them. */
function addressesIn(view: View): (address: string) => boolean {
  const judged = new Map<string, boolean>();
  const isGroup = (address: string) =>
    view.domains.has(address) || view.entries.some(({ op }) => op.startsWith(`${address}.`));
  return (address) => {
    const isSeen = judged.get(address) ?? (view.find(address) !== undefined || isGroup(address));
    judged.set(address, isSeen);
    return isSeen || address === "" || address === "root";
  };
}

/** Health, and how well the gateway's answers serve. */
function figureEndpoints(parts: ConsoleParts): Endpoint[] {
  const { gateway, recorder, wayOf } = parts;
  return [
    defineAdminEndpoint("GET /api/overview", {
      title: "Health, calls by minute, and the tokens put into contexts.",
      handle: async ({ principal }): Promise<OverviewAnswer> => {
        const [view, sources, { search, ledger, discovery }] = await Promise.all([
          gateway.view({ principal }),
          gateway.sources.status(),
          gateway.report({ principal }),
          recorder.settle(),
        ]);
        const waiting = (await waitingServers(parts)).map(({ id }) => id);
        const clients = [...recorder.series.usesOf("client")].map(async ([name, sums]) => {
          const way = await wayOf?.(name);
          return { name, ...sums, ...(way && { shows: way.shows }) };
        });
        return {
          version: PROGRAM_VERSION,
          catalog: view.version.slice(0, 12),
          startedAt: recorder.startedAt,
          entries: countKinds(view.entries),
          search,
          sources: sources.map(({ id, lastError }) => ({ id, lastError, waits: waiting.includes(id) })),
          everything: ledger.everything,
          totals: await recorder.series.totals(),
          clients: await Promise.all(clients),
          minutes: recorder.series.minutes(),
          days: [...(await recorder.series.byDay())].map(([name, sums]) => ({ name, ...sums })),
          discovery,
          notices: recorder.notices().slice(0, 8),
        };
      },
    }),
    defineAdminEndpoint("GET /api/unmet", {
      title: "Needs that led to no call, the most frequent first.",
      handle: async ({ principal }): Promise<UnmetAnswer> => {
        const isSeen = addressesIn(await gateway.view({ principal }));
        const { unmet } = await gateway.report({ principal });
        return { unmet: unmet.map((query) => ({ ...query, shown: query.shown.filter(isSeen) })) };
      },
    }),
  ];
}

/** The caller itself, and the principals that a person may search as. */
function peopleEndpoints({ enter, principals }: ConsoleParts): Endpoint[] {
  return [
    defineEndpoint("GET /api/me", {
      title: "The caller, as the gateway knows it.",
      handle: async ({ principal }): Promise<MeAnswer> => ({
        ...toShown(principal),
        admin: isAdmin(principal),
      }),
    }),
    defineEndpoint("GET /api/principals", {
      title:
        "The principals that a search may speak for, the caller first, with what their menus cost. Callers without the admin scope speak for themselves.",
      handle: async ({ principal }): Promise<PrincipalsAnswer> => {
        const others = isAdmin(principal) ? await principals() : [];
        const rows = [principal, ...others.filter(({ id }) => id !== principal.id)].map(async (caller) => {
          const entered = await enter(caller).catch(() => undefined);
          return { ...toShown(caller), ...(entered ? await costsOf(entered) : NO_COSTS) };
        });
        return { principals: await Promise.all(rows) };
      },
    }),
  ];
}

/** A caller whose profile does not exist sees nothing. */
const NO_COSTS = { entries: 0, menu: 0, everything: 0 };

async function costsOf({ gateway, principal }: Awaited<ReturnType<ConsoleParts["enter"]>>) {
  const [view, menu, { ledger }] = await Promise.all([
    gateway.view({ principal }),
    gateway.menu({ principal }),
    gateway.report({ principal }),
  ]);
  return { entries: view.shown.length, menu: await countMenu(menu), everything: ledger.everything };
}

/** A principal without what only the gateway needs. */
function toShown({ id, scopes, allowWrite, profile }: Principal): Principal {
  return { id, scopes, allowWrite, ...(profile !== undefined && { profile }) };
}

/** Conversations of agents. Callers without the admin scope see their own. */
function sessionEndpoints({ gateway, recorder: { conversations } }: ConsoleParts): Endpoint[] {
  const maySee = (principal: Principal) => (conversation: Conversation) =>
    isAdmin(principal) || conversation.principal === principal.id;
  return [
    defineEndpoint("GET /api/sessions", {
      title: "Conversations, the newest first.",
      handle: async ({ principal }): Promise<SessionsAnswer> => ({
        sessions: conversations
          .list()
          .filter(maySee(principal))
          .map(({ steps, ...rest }) => ({
            ...rest,
            queries: steps.flatMap(({ queries }) => queries).slice(0, 3),
          })),
      }),
    }),
    defineEndpoint("GET /api/session", {
      title: "One conversation, call by call; without an id the newest.",
      input: z.object({ id: z.string().optional() }),
      handle: async ({ input: { id }, principal }): Promise<SessionAnswer | NoSession> => {
        const conversation = id ? conversations.find(id) : conversations.list().find(maySee(principal));
        if (!id && !conversation) return {};
        if (!conversation || !maySee(principal)(conversation))
          throw problem("NOT_FOUND", { name: "The session" });
        const isSeen = addressesIn(await gateway.view({ principal }));
        const { everything } = (await gateway.report({ principal })).ledger;
        return { ...conversation, everything, steps: conversation.steps.map((step) => seenBy(step, isSeen)) };
      },
    }),
  ];
}

/** Leaves out addresses that the viewer may not see. A name that led nowhere is only text. */
function seenBy(step: ConversationStep, isSeen: (address: string) => boolean): ConversationStep {
  const targets = step.outcome === "NOT_FOUND" ? step.targets : step.targets.filter(isSeen);
  return { ...step, targets, found: step.found.filter(isSeen), unveiled: step.unveiled.filter(isSeen) };
}

const newAgentSchema = z.object({
  name: z.string(),
  scopes: z.array(z.string()),
  allowWrite: z.boolean(),
  profile: z.string().min(1).optional(),
  expires: z.string(),
});

/** Keys of agents: made, seen and taken back. */
function agentEndpoints({ agents }: ConsoleParts): Endpoint[] {
  const keys = () => {
    if (agents) return agents;
    throw problem("NOT_FOUND", { name: "A store of keys" });
  };
  return [
    defineAdminEndpoint("GET /api/agents", {
      title: "The agents that call over HTTP, with their rights. Never their keys.",
      handle: async (): Promise<AgentsAnswer> => ({
        kept: agents !== undefined,
        agents: (await agents?.list()) ?? [],
      }),
    }),
    defineAdminEndpoint("POST /api/agents", {
      title: "Makes the key of an agent. It is shown once.",
      input: newAgentSchema,
      handle: async ({ input, principal }) => ({ key: await keys().add(input, principal.id) }),
    }),
    defineAdminEndpoint("POST /api/agents/revoke", {
      title: "Takes the key of an agent back.",
      input: z.object({ name: z.string() }),
      handle: async ({ input: { name }, principal }) => {
        if (!(await keys().revoke(name, principal.id))) throw problem("NOT_FOUND", { name: "The agent" });
        return { ok: true };
      },
    }),
  ];
}

/** Settings in effect, and links for other browsers. */
function settingsEndpoints({ settings, createLink }: ConsoleParts): Endpoint[] {
  return [
    defineAdminEndpoint("GET /api/settings", {
      title: "The settings in effect and where each comes from. Never secrets.",
      handle: async (): Promise<SettingsAnswer> => ({
        version: PROGRAM_VERSION,
        node: process.version,
        settings: hideSecrets((await settings?.()) ?? []),
      }),
    }),
    defineAdminEndpoint("POST /api/console/link", {
      title: "A link that opens the console once, in another browser.",
      handle: async () => ({ url: createLink() }),
    }),
  ];
}
