import { Server, type ServerContext } from "@modelcontextprotocol/server";
import { readTextParams } from "../calls/read-text-params.ts";
import { coreOf } from "../gateway-core.ts";
import type { Entry } from "../schema/entry.ts";
import type { Principal } from "../schema/principal.ts";
import type { Json } from "../util/json.ts";
import { type Caller, type CallParts, createAnswerCall } from "./answer-call.ts";
import { endedIn, fromAuthInfo } from "./auth-info.ts";
import type { CallLane } from "./call-lane.ts";
import { load } from "./call-native.ts";
import { complete } from "./completion.ts";
import { guarded, inRound } from "./in-round.ts";
import { fromContext, type Incoming } from "./incoming.ts";
import { toPage } from "./pages.ts";
import type { Era } from "./plain-result.ts";
import { toMessages } from "./prompts.ts";
import { refusedState, unknownName, unknownResource } from "./protocol-errors.ts";
import { findResource, toContents } from "./resources.ts";
import { findAddress, getSkillParams, listSkillsParams, SKILLS_EXTENSION } from "./skills.ts";
import { addTaskMethods, TASKS_CAPABILITY } from "./task-methods.ts";
import { TASKS_EXTENSION } from "./tasks.ts";
import { traced } from "./traced.ts";

export interface ServerParts extends CallParts {
  readonly name: string;
  readonly version: string;
  readonly listTtlMs: number;
  /** Whether the list of tools has those of the servers. */
  readonly listsEntries: boolean;
  /** The SDK has accepted a call of a single request with this envelope. */
  accepted(envelope: unknown): void;
}

/** State of one connection. */
export interface Connection {
  /** The session of its calls. Only the older protocol has sessions in the connection. */
  readonly session?: () => Promise<string>;
  readonly subscribed: Set<string>;
  readonly era: Era;
  /** The fast lane for calls. Connections over HTTP have none. */
  readonly lane?: CallLane | undefined;
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
  const callerOf = (principal: Principal | undefined) => {
    if (!connection) return Promise.resolve(first);
    connection.principal = principal ?? given;
    return listings.for(connection.principal);
  };
  /** Lists of what servers offer wait a while for those that are starting. */
  const wholeOf = async (principal: Principal | undefined) => {
    await coreOf(gateway).ready();
    return connection ? callerOf(principal) : listings.for(given);
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
  const known = () => {
    const facts = { capabilities: server.getClientCapabilities(), client: server.getClientVersion()?.name };
    const session = connection?.session?.();
    return session ? session.then((handle) => ({ ...facts, session: handle })) : facts;
  };
  const answer = createAnswerCall(parts, { callerOf, known });
  /** Loads an entry for a request. */
  const loaded = async <T extends object>(
    context: ServerContext,
    target: string | undefined,
    find: (caller: Caller) => Promise<Loading<T>>,
  ) => {
    const incoming = fromContext(context);
    return traced(incoming, target, (trace) =>
      guarded(async () => {
        const caller = await wholeOf(principalOf(context));
        const { entry, params, show } = await find(caller);
        const request = { incoming, principal: caller.principal, known: await known(), trace, clock };
        return inRound(request, (round) => load(parts, entry, params, round, show));
      }),
    );
  };

  server.setRequestHandler("tools/list", async ({ params }, context) => {
    const { listing, principal } = await (parts.listsEntries ? wholeOf : callerOf)(principalOf(context));
    const { tools, version } = listing;
    const { page, ...next } = toPage(tools, version, params?.cursor);
    // The pages after the first belong to the same list.
    const session = await connection?.session?.();
    if (params?.cursor === undefined)
      await coreOf(gateway).noteMenu(tools, { principal, ...(session && { session }) });
    return { tools: page, ...next, _meta: { [CATALOG_META_KEY]: version } };
  });
  server.setRequestHandler("tools/call", async ({ params }, context) => {
    const { mcpReq } = context;
    const ended = connection?.lane?.ended(mcpReq.id) ?? endedIn(context.http?.authInfo);
    if (ended) return ended();
    if (!connection) parts.accepted(mcpReq.envelope);
    connection?.lane?.open({ era: connection.era, answer, log: logging(server) }, mcpReq.envelope);
    const call = { name: params.name, args: params.arguments ?? {}, task: params.task };
    return answer(call, fromContext(context), principalOf(context));
  });

  if (tasks)
    addTaskMethods(server, tasks, async (context) =>
      gateway.view({ principal: (await callerOf(principalOf(context))).principal }),
    );

  server.setRequestHandler("prompts/list", async ({ params }, context) => {
    const { prompts, version } = (await wholeOf(principalOf(context))).listing;
    const { page, ...next } = toPage(prompts, version, params?.cursor);
    return { prompts: page, ...next };
  });
  server.setRequestHandler("prompts/get", async ({ params }, context) =>
    loaded(context, params.name, async ({ listing }) => {
      const entry = listing.promptEntries.get(params.name);
      if (!entry) throw unknownName("prompt", params.name);
      const given = readTextParams(entry.inputSchema, Object.entries(params.arguments ?? {}));
      return { entry, params: given, show: (value: Json) => toMessages(entry, value) };
    }),
  );

  server.setRequestHandler("resources/list", async ({ params }, context) => {
    const { resources, version } = (await wholeOf(principalOf(context))).listing;
    const { page, ...next } = toPage(resources, version, params?.cursor);
    return { resources: page, ...next };
  });
  server.setRequestHandler("resources/templates/list", async ({ params }, context) => {
    const { templates, version } = (await wholeOf(principalOf(context))).listing;
    const { page, ...next } = toPage(templates, version, params?.cursor);
    return { resourceTemplates: page, ...next };
  });
  server.setRequestHandler("resources/read", async ({ params }, context) =>
    loaded(context, undefined, async ({ listing, principal }) => {
      const view = await gateway.view({ principal });
      const found = findResource(params.uri, listing, (uri) => findAddress(view, uri));
      if (!found) throw unknownResource(params.uri);
      const { entry, params: given } = found;
      return { entry, params: given, show: (value: Json) => toContents(params.uri, entry, value) };
    }),
  );
  server.setRequestHandler("resources/subscribe", async ({ params }, context) => {
    // Any address gets the same answer. Changes of a document are told to those who may see it.
    await callerOf(principalOf(context));
    if ((connection?.subscribed.size ?? 0) < MAX_SUBSCRIPTIONS) connection?.subscribed.add(params.uri);
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", async ({ params }) => {
    connection?.subscribed.delete(params.uri);
    return {};
  });

  server.setRequestHandler("skills/list", { params: listSkillsParams }, async ({ cursor }, context) => {
    const { skills, version } = (await wholeOf(principalOf(context))).listing;
    const { page, ...next } = toPage(skills, version, cursor);
    return { skills: page, ...next, ...cached };
  });
  server.setRequestHandler("skills/get", { params: getSkillParams }, async ({ uri }, context) => {
    const skill = (await wholeOf(principalOf(context))).listing.skills.find((one) => one.uri === uri);
    if (!skill) throw unknownName("skill", uri);
    return { skill, ...cached };
  });

  server.setRequestHandler("completion/complete", async ({ params }, context) => {
    const { ref, argument } = params;
    const { promptEntries, templateEntries } = (await wholeOf(principalOf(context))).listing;
    const entry = ref.type === "ref/prompt" ? promptEntries.get(ref.name) : templateEntries.get(ref.uri);
    return complete(entry, argument, params.context?.arguments ?? {}, context.mcpReq.signal);
  });
  return server;
}

/** An entry to load, and the form of its content. */
interface Loading<T> {
  readonly entry: Entry;
  readonly params: Readonly<Record<string, unknown>>;
  show(value: Json): T;
}

function principalOf({ http }: ServerContext): Principal | undefined {
  return fromAuthInfo(http?.authInfo);
}

/** Sends log messages above the level that the client has set. */
function logging(server: Server): Incoming["log"] {
  return (level, data, logger) => server.sendLoggingMessage({ level, data, logger });
}
