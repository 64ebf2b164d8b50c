import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { problem } from "../../../base/problems/problem.ts";
import { hideSecrets } from "../../../base/safety/known-secrets.ts";
import { memoizeByObject } from "../../../base/util/memoize-by-object.ts";
import { reasonOf } from "../../../base/util/reason-of.ts";
import { showProgram } from "../../../core/access/consents.ts";
import { type Pin, waits } from "../../../core/access/pins.ts";
import type { View } from "../../../core/access/view.ts";
import type { Entry } from "../../../core/nouns/entry.ts";
import { ASKS } from "../../../core/nouns/question.ts";
import type { Source } from "../../../core/nouns/source.ts";
import { countMenu } from "../../../core/surfaces/menu.ts";
import { isOfferedTool, nativeTools, toNativeTool } from "../../../core/surfaces/native-tools.ts";
import type { LimitsApproval } from "../../../gateway/approvals.ts";
import { faceApiOf } from "../../../gateway/face-api.ts";
import type { Gateway } from "../../../gateway/gateway-api.ts";
import { toLimitsApproval } from "../../../gateway/limits-approval.ts";
import { askFor } from "../../../sources/mcp/config/overrides.ts";
import type { McpSource } from "../../../sources/mcp/mcp-source.ts";
import type { ServerSource } from "../../../sources/servers/from-config.ts";
import type {
  KnowledgeAnswer,
  LogAnswer,
  ServerAnswer,
  ServerChange,
  ServerRulesShown,
  ShownTool,
  UpstreamsAnswer,
} from "./api-types.ts";
import { type ConsoleParts, countKinds } from "./console-parts.ts";
import { defineAdminEndpoint, type Endpoint } from "./endpoint.ts";
import type { CallRecorder } from "./recorder.ts";

const LOG_LINES = 400;
/** The answer about the process of a server that has none. */
const QUIET = {
  ...{ connected: false, protocol: undefined, pid: undefined, starts: 0, running: 0, waiting: 0 },
  ...{ listedAt: undefined, fromCache: false },
};
const LOGIN_URL_MS = 20_000;
const NO_ENTRIES: readonly Entry[] = [];

// A page asks at every change, and the tokens of 10,000 tools take a second: they are counted once for a catalog.
const byServer = memoizeByObject((entries: readonly Entry[]) => Map.groupBy(entries, ({ domain }) => domain));
const listedTools = memoizeByObject(async (entries: readonly Entry[]) => {
  const tools = [...nativeTools(entries)].map(([name, entry]) => toNativeTool(name, entry));
  return { tools: tools.length, tokens: await countMenu(tools) };
});
const offeredTools = memoizeByObject((entries: readonly Entry[]) => entries.filter(isOfferedTool));
const toolOf = memoizeByObject(async (entry: Entry) => {
  const { op, domain, origin, description, lane } = entry;
  const own = origin?.definition.name;
  const name = typeof own === "string" ? own : op.startsWith(`${domain}.`) ? op.slice(domain.length + 1) : op;
  const tool = toNativeTool(name, entry);
  return { name, op, description, lane, tokens: await countMenu([tool]), parameters: tool.inputSchema };
});

const named = z.object({ id: z.string() });
const changeSchema = z.object({
  server: z.string(),
  add: z.string().optional(),
  edit: z.string().optional(),
  disabled: z.boolean().optional(),
  hide: z.object({ tool: z.string(), hidden: z.boolean() }).optional(),
  ask: z.object({ tool: z.string().min(1).optional(), when: z.enum(ASKS).optional() }).optional(),
  rename: z.object({ tool: z.string(), name: z.string() }).optional(),
  remove: z.literal(true).optional(),
});

/** The state of upstream servers, and what a person may do about it. */
export function upstreamEndpoints(parts: ConsoleParts): Endpoint[] {
  const { gateway, recorder, consents, editor } = parts;
  function find(id: string): McpSource {
    const source = upstreamsOf(gateway).find((one) => one.id === id);
    if (!source) throw problem("NOT_FOUND", { name: "The server" });
    return source;
  }

  async function show(source: ServerSource, view: View, pins: readonly Pin[] = gateway.pins.list()) {
    const { stderr: _, status, label, ...facts } = { ...QUIET, ...source.diagnostics() };
    const listed = await listedTools(byServer(view.shown).get(label) ?? NO_ENTRIES);
    const program = source.program();
    return {
      id: source.id,
      label,
      ...facts,
      state: status?.state ?? (facts.connected || !isUpstream(source) ? "connected" : "idle"),
      reason: status?.reason,
      program: { hash: program.hash, lines: showProgram(program) },
      ...listed,
      isUpstream: isUpstream(source),
      isHttp: "url" in program.runs,
      needsConsent:
        status?.state === "quarantined" && consents !== undefined && !(await consents.isGiven(program)),
      unapproved: pins.filter((pin) => pin.source === label && waits(pin)).length,
    };
  }

  return [
    defineAdminEndpoint("GET /api/upstreams", {
      title: "Upstream servers: state, protocol, last lines of stderr, tokens of their tools.",
      handle: async ({ principal }): Promise<UpstreamsAnswer> => {
        const view = await gateway.view({ principal });
        const pins = gateway.pins.list();
        return {
          upstreams: await Promise.all(serversOf(gateway).map((source) => show(source, view, pins))),
          ...(editor && { off: await editor.off() }),
        };
      },
    }),
    defineAdminEndpoint("GET /api/server", {
      title: "One server with its tools, its log and what may be changed about it.",
      input: named,
      handle: async ({ input, principal }): Promise<ServerAnswer> => {
        const source = findServer(gateway, input.id);
        const view = await gateway.view({ principal });
        const proposal = await proposalOf(parts, source, view.entries);
        const rules = await editor?.rulesOf(source.label);
        const tools = offeredTools(byServer(view.entries).get(source.label) ?? NO_ENTRIES);
        return {
          server: await show(source, view),
          tools: await Promise.all(tools.map((entry) => toTool(entry, rules))),
          ...(rules && { rules }),
          ...(proposal && { proposal }),
        };
      },
    }),
    defineAdminEndpoint("POST /api/server/change", {
      title:
        "Changes the config of a server: added, edited, off, removed, a tool hidden, renamed or that asks.",
      input: changeSchema,
      handle: async ({ input: { server, ...change } }) => {
        if (!editor) throw problem("NOT_FOUND", { name: "The config of the servers" });
        return attempted(() => editor.change(server, change as ServerChange), recorder);
      },
    }),
    defineAdminEndpoint("POST /api/upstreams/restart", {
      title: "Ends a server and starts it again.",
      input: named,
      handle: async ({ input }) => restart(find(input.id), parts),
    }),
    defineAdminEndpoint("GET /api/server/log", {
      title: "The last lines that a server wrote to stderr.",
      input: named,
      handle: async ({ input }): Promise<LogAnswer> => ({
        lines: lastLines(findServer(gateway, input.id).diagnostics().stderr, LOG_LINES),
      }),
    }),
    defineAdminEndpoint("POST /api/upstreams/logout", {
      title: "Deletes the login to a server.",
      input: named,
      handle: async ({ input }) =>
        attempted(async () => {
          const source = find(input.id);
          if (!(await source.logOut())) throw problem("NOT_FOUND", { name: "A login to it" });
          // It may need the login to come up.
          await source.restart().catch(() => {});
        }, recorder),
    }),
    defineAdminEndpoint("POST /api/upstreams/start", {
      title: "Consents to exactly the program of a server, and starts it.",
      input: named.extend({ hash: z.string() }),
      handle: async ({ input, principal }) => {
        const source = findServer(gateway, input.id);
        const program = source.program();
        if (program.hash !== input.hash) throw problem("NOT_FOUND", { name: "That program" });
        await consents?.give([program], principal.id);
        return restart(source, parts);
      },
    }),
    defineAdminEndpoint("POST /api/upstreams/login", {
      title: "Begins a login to a server over HTTP. Returns the address that the person opens.",
      input: named,
      handle: async ({ input }) => {
        const address = Promise.withResolvers<string>();
        // The person logs in after this answer.
        const login = find(input.id)
          .logIn({ onUrl: (url) => address.resolve(url.href) })
          .finally(() => recorder.tell({ topic: "sources" }));
        const late = delay(LOGIN_URL_MS, undefined, { ref: false });
        const url = await Promise.race([address.promise, login.then(() => undefined), late]);
        return url === undefined ? { needed: false } : { needed: true, url };
      },
    }),
  ];
}

function lastLines(text: string, count: number): readonly string[] {
  const written = text.trimEnd();
  return written === "" ? [] : written.split("\n").slice(-count);
}

/** Starts a server again, or reads again one that Keyhole reads by itself. */
export function restart(source: ServerSource, { gateway, recorder }: ConsoleParts): Promise<object> {
  return attempted(
    () => (isUpstream(source) ? source.restart() : gateway.sources.refresh(source.id)),
    recorder,
  );
}

/** Limits for the process of a server, if a person has approved its program and others fit it better. */
export async function proposalOf(
  { acceptedLimits, consents }: ConsoleParts,
  source: ServerSource,
  entries: readonly Entry[],
): Promise<LimitsApproval | undefined> {
  if (!acceptedLimits || (consents && !(await consents.isGiven(source.program())))) return undefined;
  return toLimitsApproval(source, entries, acceptedLimits);
}

async function toTool(entry: Entry, rules?: ServerRulesShown): Promise<ShownTool> {
  const tool = await toolOf(entry);
  const { [tool.name]: ask, ...patterns } = rules?.ask ?? {};
  const askByPattern = askFor(tool.name, patterns);
  return { ...tool, ...(ask && { ask }), ...(askByPattern && { askByPattern }) };
}

export function findServer(gateway: Gateway, id: string): ServerSource {
  const source = serversOf(gateway).find((one) => one.id === id);
  if (!source) throw problem("NOT_FOUND", { name: "The server" });
  return source;
}

/** Servers of a config, whatever their kind. */
export function serversOf(gateway: Gateway): ServerSource[] {
  const isServer = (source: Source): source is ServerSource => "diagnostics" in source && "program" in source;
  return faceApiOf(gateway).sources().filter(isServer);
}

function upstreamsOf(gateway: Gateway): McpSource[] {
  return serversOf(gateway).filter(isUpstream);
}

/** Whether a server runs by itself or answers over HTTP, and Keyhole does not read it. */
function isUpstream(source: ServerSource): source is McpSource {
  return "restart" in source;
}

/** Documents, skills and prompts: how old they are, and reading them again. */
export function knowledgeEndpoints({ gateway, recorder }: ConsoleParts): Endpoint[] {
  return [
    defineAdminEndpoint("GET /api/knowledge", {
      title: "Sources of documents, skills, prompts and APIs, with their freshness.",
      handle: async ({ principal }): Promise<KnowledgeAnswer> => {
        const view = await gateway.view({ principal });
        const servers = upstreamsOf(gateway).map(({ id }) => id);
        const domains = [...view.domains.values()].map(({ name, description }) => {
          const entries = view.entries.filter(({ domain }) => domain === name);
          return { name, description, entries: countKinds(entries) };
        });
        return {
          sources: (await gateway.sources.status()).filter(({ id }) => !servers.includes(id)),
          domains,
        };
      },
    }),
    defineAdminEndpoint("POST /api/knowledge/refresh", {
      title: "Reads a source again. Its earlier content stays in use if that fails.",
      input: z.object({ id: z.string() }),
      handle: ({ input }) => attempted(() => gateway.sources.refresh(input.id), recorder),
    }),
  ];
}

/** Answers with the reason of a failure: the person at the console reads it. */
async function attempted(work: () => Promise<void>, recorder: CallRecorder): Promise<object> {
  try {
    await work();
    return { ok: true };
  } catch (error) {
    return { ok: false, reason: hideSecrets(reasonOf(error)) };
  } finally {
    recorder.tell({ topic: "sources" });
  }
}
