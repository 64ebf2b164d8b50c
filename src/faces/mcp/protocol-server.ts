import { type CompleteResult, Server, type ServerContext } from "@modelcontextprotocol/server";
import type { Json } from "../../base/util/json.ts";
import { field, fieldsOf, listOf } from "../../base/util/plain-object.ts";
import { readTextParams } from "../../core/access/view.ts";
import type { Entry, ReadableEntry } from "../../core/nouns/entry.ts";
import type { Principal } from "../../core/nouns/principal.ts";
import { NO_VALIDATION } from "../../sources/mcp/no-validation.ts";
import { load } from "./call-native.ts";
import { type Caller, type CallParts, createAnswerCall } from "./call-tool.ts";
import type { FollowSdk } from "./fast-path.ts";
import { findAddress, getSkillParams, listSkillsParams, SKILLS_EXTENSION, toMessages } from "./prompts.ts";
import { refusedCursor, refusedState, unknownName, unknownResource } from "./protocol-errors.ts";
import {
  answerRequest,
  type ClientRequest,
  clientNameOf,
  fromAuthInfo,
  fromContext,
  type ProtocolRevision,
} from "./request.ts";
import { findResource, toContents } from "./resources.ts";
import { addTaskMethods, TASKS_CAPABILITY, TASKS_EXTENSION } from "./tasks.ts";

export interface ServerParts extends CallParts {
  readonly name: string;
  readonly version: string;
  readonly listTtlMs: number;
  /** Follows the calls of endpoints without a connection. */
  readonly followSdk: FollowSdk;
}

/** State of one connection. */
export interface ServerConnection {
  /** The session of its calls. Only the older protocol has sessions in the connection. */
  readonly session?: () => Promise<string>;
  readonly subscribed: Set<string>;
  readonly revision: ProtocolRevision;
  /** The folder that the client runs in, where it is another one than that of this process. */
  readonly folder?: string | undefined;
  /** Absent over HTTP, where no call of a connection takes the fast path. */
  readonly followSdk?: FollowSdk | undefined;
  /** The principal of the latest request. Each request is judged by its own token. */
  principal: Principal | undefined;
}

const MAX_SUBSCRIPTIONS = 1_024;
/** In the `_meta` of a list of tools: the hash of the catalog that it was made from. */
const CATALOG_META_KEY = "keyhole/catalog";

/** Lists that answer alike: their method, their part of a listing, and their field in the result. */
const LISTS = [
  ["prompts/list", "prompts", "prompts"],
  ["resources/list", "resources", "resources"],
  ["resources/templates/list", "templates", "resourceTemplates"],
] as const;

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
  connection?: ServerConnection,
): Promise<Server> {
  const { states, listTtlMs, tasks } = parts;
  const first = await parts.listings.for(given);
  const cached = { ttlMs: listTtlMs, cacheScope: "private" as const };
  const server = new Server(
    { name: parts.name, version: parts.version },
    {
      capabilities: tasks ? WITH_TASKS : CAPABILITIES,
      instructions: first.listing.instructions,
      jsonSchemaValidator: NO_VALIDATION,
      cacheHints: {
        "tools/list": cached,
        "prompts/list": cached,
        "resources/list": cached,
        "resources/templates/list": cached,
        "server/discover": cached,
      },
      requestState: {
        verify: (sealed) => {
          const state = states.open(sealed, first.principal.id);
          if (!state) throw refusedState();
          return state;
        },
      },
    },
  );
  const endpoint = new ProtocolEndpoint(parts, server, given, first, connection);
  addToolMethods(endpoint);
  addReadMethods(endpoint);
  addSkillMethods(endpoint, cached);
  return server;
}

/** A server of the protocol, with the callers of its requests. */
class ProtocolEndpoint {
  readonly parts: ServerParts;
  readonly server: Server;
  readonly connection: ServerConnection | undefined;
  private readonly given: Principal | undefined;
  private readonly first: Caller;

  constructor(
    parts: ServerParts,
    server: Server,
    given: Principal | undefined,
    first: Caller,
    connection: ServerConnection | undefined,
  ) {
    this.parts = parts;
    this.server = server;
    this.given = given;
    this.first = first;
    this.connection = connection;
  }

  /** Without a connection the server lives for one request and keeps its first catalog. */
  callerOf(principal: Principal | undefined): Promise<Caller> {
    const { connection } = this;
    if (!connection) return Promise.resolve(this.first);
    connection.principal = principal ?? this.given;
    return this.parts.listings.for(connection.principal);
  }

  /** Lists of what servers offer wait a while for those that are starting. */
  async wholeOf(principal: Principal | undefined): Promise<Caller> {
    await this.parts.face.view("complete");
    return this.connection ? this.callerOf(principal) : this.parts.listings.for(this.given);
  }

  knownClient() {
    const { server } = this;
    const facts = {
      capabilities: server.getClientCapabilities(),
      client: server.getClientVersion()?.name,
      connection: this.connection,
    };
    const session = this.connection?.session?.();
    return session ? session.then((handle) => ({ ...facts, session: handle })) : facts;
  }

  /** Loads an entry for a request. */
  load<T extends object>(
    context: ServerContext,
    target: string | undefined,
    find: (caller: Caller) => Promise<Loading<T>>,
  ) {
    const { parts } = this;
    const { clock, publish } = parts.face;
    const findCaller = () => this.wholeOf(principalOf(context));
    return answerRequest(
      fromContext(context),
      target,
      { clock, publish, findCaller, knownClient: () => this.knownClient() },
      async (caller, request) => {
        const { entry, params, show } = await find(caller);
        return parts.openCalls.run(request, (options) =>
          load(parts, entry, params, { ...request, options: { ...request.options, ...options } }, show),
        );
      },
    );
  }

  /** One page of a list that servers contribute to. */
  async pageOf(
    list: "prompts" | "resources" | "templates" | "skills",
    field: string,
    cursor: string | undefined,
    context: ServerContext,
  ) {
    const { listing } = await this.wholeOf(principalOf(context));
    const { page, ...next } = toPage<object>(listing[list], listing.version, cursor);
    return { [field]: page, ...next };
  }
}

function addToolMethods(endpoint: ProtocolEndpoint): void {
  const { parts, server, connection } = endpoint;
  const { gateway, face, tasks } = parts;
  const callerOf = (principal: Principal | undefined) => endpoint.callerOf(principal);
  const knownClient = () => endpoint.knownClient();
  const followSdk = connection ? connection.followSdk : parts.followSdk;
  const answerCall = createAnswerCall(parts, { callerOf, knownClient });
  /** Sends log messages above the level that the client has set. */
  const log: ClientRequest["log"] = (level, data, logger) =>
    server.sendLoggingMessage({ level, data, logger });
  if (connection)
    server.setNotificationHandler("notifications/roots/list_changed", () => {
      parts.openCalls.forgetRoots(connection);
    });
  const answer = followSdk?.(answerCall, { revision: connection?.revision ?? "modern", log }) ?? answerCall;
  server.setRequestHandler("tools/list", async ({ params }, context) => {
    // Only the native surface has tasks, and lists the tools of the servers.
    const asking = principalOf(context);
    const { listing, principal } = await (tasks ? endpoint.wholeOf(asking) : callerOf(asking));
    const { tools, version } = listing;
    const { page, ...next } = toPage(tools, version, params?.cursor);
    // The pages after the first belong to the same list.
    if (params?.cursor === undefined) {
      const known = await knownClient();
      const clientName = clientNameOf(fromContext(context), known);
      const session = "session" in known ? known.session : undefined;
      await face.noteMenu(tools, { principal, clientName, ...(session && { session }) });
    }
    return { tools: page, ...next, _meta: { [CATALOG_META_KEY]: version } };
  });
  server.setRequestHandler("tools/call", async ({ params: { name, arguments: args = {}, task } }, context) =>
    answer({ name, args, task }, fromContext(context), principalOf(context)),
  );

  if (tasks)
    addTaskMethods(server, tasks, async (context) =>
      gateway.view({ principal: (await callerOf(principalOf(context))).principal }),
    );
}

function addReadMethods(endpoint: ProtocolEndpoint): void {
  const { server, connection } = endpoint;
  const { gateway } = endpoint.parts;
  for (const [method, list, field] of LISTS) {
    const answerList = ({ params }: { params?: { cursor?: string } }, context: ServerContext) =>
      endpoint.pageOf(list, field, params?.cursor, context);
    // The compiler cannot match each method of the table with its own result.
    server.setRequestHandler(method, answerList as never);
  }
  server.setRequestHandler("prompts/get", async ({ params }, context) =>
    endpoint.load(context, params.name, async ({ listing }) => {
      const entry = listing.promptEntries.get(params.name);
      if (!entry) throw unknownName("prompt", params.name);
      const args = readTextParams(entry.inputSchema, Object.entries(params.arguments ?? {}));
      return { entry, params: args, show: (value: Json) => toMessages(entry, value) };
    }),
  );

  server.setRequestHandler("resources/read", async ({ params }, context) =>
    endpoint.load(context, undefined, async ({ listing, principal }) => {
      const view = await gateway.view({ principal });
      const found = findResource(params.uri, listing, (uri) => findAddress(view, uri));
      if (!found) throw unknownResource(params.uri);
      const { entry, params: given } = found;
      return { entry, params: given, show: (value: Json) => toContents(params.uri, entry, value) };
    }),
  );
  server.setRequestHandler("resources/subscribe", async ({ params }, context) => {
    // Any address gets the same answer. Changes of a document are told to those who may see it.
    await endpoint.callerOf(principalOf(context));
    if ((connection?.subscribed.size ?? 0) < MAX_SUBSCRIPTIONS) connection?.subscribed.add(params.uri);
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", async ({ params }) => {
    connection?.subscribed.delete(params.uri);
    return {};
  });
  server.setRequestHandler("completion/complete", async ({ params }, context) => {
    const { ref, argument } = params;
    const { promptEntries, templateEntries } = (await endpoint.wholeOf(principalOf(context))).listing;
    const entry = ref.type === "ref/prompt" ? promptEntries.get(ref.name) : templateEntries.get(ref.uri);
    return complete(entry, argument, params.context?.arguments ?? {}, context.mcpReq.signal);
  });
}

function addSkillMethods(
  endpoint: ProtocolEndpoint,
  cached: { readonly ttlMs: number; readonly cacheScope: "private" },
): void {
  const { server } = endpoint;
  server.setRequestHandler("skills/list", { params: listSkillsParams }, async ({ cursor }, context) => ({
    ...(await endpoint.pageOf("skills", "skills", cursor, context)),
    ...cached,
  }));
  server.setRequestHandler("skills/get", { params: getSkillParams }, async ({ uri }, context) => {
    const skill = (await endpoint.wholeOf(principalOf(context))).listing.skills.find(
      (one) => one.uri === uri,
    );
    if (!skill) throw unknownName("skill", uri);
    return { skill, ...cached };
  });
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

const MAX_VALUES = 100;

type Argument = { readonly name: string; readonly value: string };

/**
 * Completes an argument with the values in its schema that start with the typed text, or else with those that its
 * server suggests. A server that fails suggests nothing.
 */
async function complete(
  entry: ReadableEntry | undefined,
  argument: Argument,
  given: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<CompleteResult> {
  const own = inSchema(entry, argument);
  if (own.length > 0 || !entry?.complete || entry.status) return toResult(own);
  return toResult(await entry.complete(argument, given, signal).catch(() => []));
}

function toResult(values: readonly string[]): CompleteResult {
  return {
    completion: {
      values: values.slice(0, MAX_VALUES),
      total: values.length,
      hasMore: values.length > MAX_VALUES,
    },
  };
}

function inSchema(entry: ReadableEntry | undefined, argument: Argument): string[] {
  const schema = fieldsOf(field(entry?.inputSchema.properties, argument.name));
  const ofType = schema.type === "boolean" ? [true, false] : [];
  const values = [...listOf(schema.enum), ...listOf(schema.examples), schema.default, ...ofType]
    .filter((value) => ["string", "number", "boolean"].includes(typeof value))
    .map(String);
  const typed = argument.value.toLowerCase();
  return [...new Set(values)].filter((value) => value.toLowerCase().startsWith(typed));
}

const PAGE = 1_000;

/**
 * Returns one page of a list. A cursor belongs to one version of the list; after a change the client starts again.
 *
 * @throws a protocol error for an unknown or outdated cursor.
 */
function toPage<T>(
  items: readonly T[],
  version: string,
  cursor: string | undefined,
): { page: T[]; nextCursor?: string } {
  const offset = cursor === undefined ? 0 : readCursor(cursor, version);
  const end = offset + PAGE;
  return {
    page: items.slice(offset, end),
    ...(end < items.length && { nextCursor: Buffer.from(`${version}:${end}`).toString("base64url") }),
  };
}

function readCursor(cursor: string, version: string): number {
  const [of, offset] = Buffer.from(cursor.slice(0, 128), "base64url").toString("latin1").split(":");
  if (of !== version || !offset || !/^\d{1,9}$/.test(offset)) throw refusedCursor();
  return Number(offset);
}
