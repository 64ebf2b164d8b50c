import { Server, type ServerContext } from "@modelcontextprotocol/server";
import { readTextParams } from "../calls/read-text-params.ts";
import { coreOf } from "../gateway-core.ts";
import type { Principal } from "../schema/principal.ts";
import type { CallTrace } from "../schema/span-context.ts";
import type { Json } from "../util/json.ts";
import { fromAuthInfo } from "./auth-info.ts";
import { becomesTask, callAsTask } from "./call-as-task.ts";
import { load, type ToolResult } from "./call-native.ts";
import { callTool, type ToolCaller } from "./call-tool.ts";
import { complete } from "./completion.ts";
import { startHeartbeat } from "./heartbeat.ts";
import type { Listings } from "./listing.ts";
import { toPage } from "./pages.ts";
import { toMessages } from "./prompts.ts";
import { asProtocolError, refusedState, unknownName, unknownResource } from "./protocol-errors.ts";
import { findResource, toContents } from "./resources.ts";
import { type Round, toRound } from "./round.ts";
import { findAddress, getSkillParams, listSkillsParams, SKILLS_EXTENSION } from "./skills.ts";
import { addTaskMethods, TASKS_CAPABILITY } from "./task-methods.ts";
import { TASKS_EXTENSION, type Tasks } from "./tasks.ts";
import { traced } from "./traced.ts";

export interface ServerParts extends ToolCaller {
  readonly name: string;
  readonly version: string;
  readonly listings: Listings;
  readonly listTtlMs: number;
  /** Absent on surfaces whose tools are not those of a server. */
  readonly tasks?: Tasks<ToolResult> | undefined;
}

/** State of one connection. */
export interface Connection {
  /** The session of its calls. Only the older protocol has sessions in the connection. */
  readonly session?: () => Promise<string>;
  readonly subscribed: Set<string>;
  /** The principal of the latest request. Each request is judged by its own token. */
  principal: Principal | undefined;
}

const MAX_SUBSCRIPTIONS = 1_024;
/** In the `_meta` of a list of tools: the hash of the catalog that it was made from. */
const CATALOG_META_KEY = "keyhole/catalog";

const CAPABILITIES = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  completions: {},
  logging: {},
  extensions: { [SKILLS_EXTENSION]: {} },
};
const WITH_TASKS = {
  ...CAPABILITIES,
  tasks: TASKS_CAPABILITY,
  extensions: { ...CAPABILITIES.extensions, [TASKS_EXTENSION]: {} },
};

/**
 * Creates one protocol endpoint for one principal, whose scopes may differ from one request to the next. Every
 * request makes one, so heavy parts are in `parts`.
 */
export async function createProtocolServer(
  parts: ServerParts,
  given: Principal | undefined,
  connection?: Connection,
): Promise<Server> {
  const { gateway, rounds, listings, listTtlMs, tasks } = parts;
  const first = await listings.for(given);
  /** Without a connection the server lives for one request and keeps its first catalog. */
  const callerOf = async ({ http }: ServerContext) => {
    if (!connection) return first;
    connection.principal = fromAuthInfo(http?.authInfo) ?? given;
    return listings.for(connection.principal);
  };
  /** A tool that is not listed may belong to a server that is still starting. */
  const callerOfTool = async (context: ServerContext, tool: string) => {
    const caller = await callerOf(context);
    if (caller.listing.toolbox.toCall(tool, {})) return caller;
    await coreOf(gateway).allStarted(caller.principal);
    return listings.for(caller.principal);
  };
  const cached = { ttlMs: listTtlMs, cacheScope: "private" as const };
  const server = new Server(
    { name: parts.name, version: parts.version },
    {
      capabilities: tasks ? WITH_TASKS : CAPABILITIES,
      instructions: first.listing.instructions,
      cacheHints: {
        "tools/list": cached,
        "prompts/list": cached,
        "resources/list": cached,
        "resources/templates/list": cached,
        "server/discover": cached,
      },
      requestState: {
        verify: (sealed) => {
          const state = rounds.open(sealed, first.principal.id);
          if (!state) throw refusedState();
          return state;
        },
      },
    },
  );
  const { clock } = coreOf(gateway);
  const inRound = async <T>(
    context: ServerContext,
    principal: Principal,
    trace: CallTrace | undefined,
    work: (round: Round) => Promise<T>,
  ): Promise<T> => {
    const known = {
      capabilities: server.getClientCapabilities(),
      client: server.getClientVersion()?.name,
      session: await connection?.session?.(),
    };
    const { progress, stop } = startHeartbeat(context, clock);
    try {
      return await work(toRound(context, principal, known, progress, trace));
    } finally {
      stop();
    }
  };

  server.setRequestHandler("tools/list", async ({ params }, context) => {
    const { listing, principal } = await callerOf(context);
    const { tools, version } = listing;
    const { page, ...next } = toPage(tools, version, params?.cursor);
    // The pages after the first belong to the same list.
    const session = await connection?.session?.();
    if (params?.cursor === undefined)
      await coreOf(gateway).noteMenu(tools, { principal, ...(session && { session }) });
    return { tools: page, ...next, _meta: { [CATALOG_META_KEY]: version } };
  });
  server.setRequestHandler("tools/call", async ({ params }, context) =>
    traced(context, params.name, (trace) =>
      guarded(async () => {
        const call = { name: params.name, args: params.arguments ?? {} };
        const { listing, principal } = await callerOfTool(context, call.name);
        return inRound(context, principal, trace, (round) => {
          if (!tasks || !becomesTask(listing, call, params.task !== undefined, round, context))
            return callTool(parts, listing, call, round);
          return callAsTask(parts, tasks, listing, call, { round, context, ttlMs: params.task?.ttl });
        });
      }),
    ),
  );

  if (tasks) addTaskMethods(server, tasks, async (context) => (await callerOf(context)).principal);

  server.setRequestHandler("prompts/list", async ({ params }, context) => {
    const { prompts, version } = (await callerOf(context)).listing;
    const { page, ...next } = toPage(prompts, version, params?.cursor);
    return { prompts: page, ...next };
  });
  server.setRequestHandler("prompts/get", async ({ params }, context) =>
    traced(context, params.name, (trace) =>
      guarded(async () => {
        const { listing, principal } = await callerOf(context);
        const entry = listing.promptEntries.get(params.name);
        if (!entry) throw unknownName("prompt", params.name);
        const given = readTextParams(entry.inputSchema, Object.entries(params.arguments ?? {}));
        const show = (value: Json) => toMessages(entry, value);
        return inRound(context, principal, trace, (round) => load(parts, entry, given, round, show));
      }),
    ),
  );

  server.setRequestHandler("resources/list", async ({ params }, context) => {
    const { resources, version } = (await callerOf(context)).listing;
    const { page, ...next } = toPage(resources, version, params?.cursor);
    return { resources: page, ...next };
  });
  server.setRequestHandler("resources/templates/list", async ({ params }, context) => {
    const { templates, version } = (await callerOf(context)).listing;
    const { page, ...next } = toPage(templates, version, params?.cursor);
    return { resourceTemplates: page, ...next };
  });
  server.setRequestHandler("resources/read", async ({ params }, context) =>
    traced(context, undefined, (trace) =>
      guarded(async () => {
        const { listing, principal } = await callerOf(context);
        const view = await gateway.view({ principal });
        const found = findResource(params.uri, listing, (uri) => findAddress(view, uri));
        if (!found) throw unknownResource(params.uri);
        const { entry, params: given } = found;
        const show = (value: Json) => toContents(params.uri, entry, value);
        return inRound(context, principal, trace, (round) => load(parts, entry, given, round, show));
      }),
    ),
  );
  server.setRequestHandler("resources/subscribe", async ({ params }, context) => {
    // Any address gets the same answer. Changes of a document are told to those who may see it.
    await callerOf(context);
    if ((connection?.subscribed.size ?? 0) < MAX_SUBSCRIPTIONS) connection?.subscribed.add(params.uri);
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", async ({ params }) => {
    connection?.subscribed.delete(params.uri);
    return {};
  });

  server.setRequestHandler("skills/list", { params: listSkillsParams }, async ({ cursor }, context) => {
    const { skills, version } = (await callerOf(context)).listing;
    const { page, ...next } = toPage(skills, version, cursor);
    return { skills: page, ...next, ...cached };
  });
  server.setRequestHandler("skills/get", { params: getSkillParams }, async ({ uri }, context) => {
    const skill = (await callerOf(context)).listing.skills.find((one) => one.uri === uri);
    if (!skill) throw unknownName("skill", uri);
    return { skill, ...cached };
  });

  server.setRequestHandler("completion/complete", async ({ params }, context) => {
    const { ref, argument } = params;
    const { promptEntries, templateEntries } = (await callerOf(context)).listing;
    const entry = ref.type === "ref/prompt" ? promptEntries.get(ref.name) : templateEntries.get(ref.uri);
    return complete(entry, argument, params.context?.arguments ?? {}, context.mcpReq.signal);
  });
  return server;
}

async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asProtocolError(error);
  }
}
