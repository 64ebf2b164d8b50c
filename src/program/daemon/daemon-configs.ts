import { randomUUID } from "node:crypto";
import { readFile, realpath } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import { problem } from "../../base/problems/problem.ts";
import { knowSecrets } from "../../base/safety/known-secrets.ts";
import { secretVariables } from "../../base/safety/secret-values.ts";
import { contentHash } from "../../base/util/content-hash.ts";
import { lazy } from "../../base/util/lazy.ts";
import { field } from "../../base/util/plain-object.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import type { Principal } from "../../core/nouns/principal.ts";
import { openMemoryStorage } from "../../core/storage/memory-storage.ts";
import { openRecordFile } from "../../core/storage/record-file.ts";
import { openSqliteStorage } from "../../core/storage/sql-storage.ts";
import { type CallRecorder, createRecorder } from "../../faces/http/endpoints/recorder.ts";
import type { ConsoleServer } from "../../faces/http/serve-console.ts";
import { createMcpServer, type McpServer } from "../../faces/mcp/mcp-server.ts";
import type { Gateway } from "../../gateway/gateway-api.ts";
import type { SkillPlace } from "../../sources/markdown/skills/skill.ts";
import { findCommand } from "../../sources/mcp/config/server-program.ts";
import { tellingVariables } from "../../sources/mcp/config/to-launch.ts";
import { createSharedServers } from "../../sources/mcp/shared-servers.ts";
import type { ServerSource } from "../../sources/servers/from-config.ts";
import { consoleFile, wayOf } from "../open/console-file.ts";
import { loadSettings } from "../open/load-settings.ts";
import { openConfig } from "../open/open-config.ts";
import { chooseSurface, openGateway, principalOf } from "../open/open-gateway.ts";
import type { consoleParts } from "../open/open-http.ts";
import { callForPerson } from "../open/open-local.ts";
import { workspaceOf } from "../open/read-json-config.ts";
import { servedSkills } from "../open/served-skills.ts";
import type { Settings } from "../open/settings-schema.ts";
import type { OpenedClient, ServingRequest } from "./daemon.ts";
import type { DaemonConsole, ServeRequest } from "./handshake.ts";

/** A client of a config, and the way to make it open the config again. */
interface Member {
  readonly request: ServeRequest;
  readonly settings: Pick<Settings, "audit" | "learning" | "askAfterInjection" | "instructions">;
  /** The files of the commands of its servers, which its PATH decides. */
  readonly programs: readonly (string | undefined)[];
  /** The places of its skills, if it is served some: its folder may have skills of its own. */
  readonly skills: readonly SkillPlace[];
  reconnect(): void;
}

/** A config in use. Clients that would get the same gateway share it. */
interface Config {
  readonly members: Set<Member>;
  readonly gateway: Gateway;
  /** The client that it was opened for. */
  readonly first: Member;
  /** Whether a client has been served, and others may come. */
  isServed: boolean;
  /** Whether no other client may use it. */
  isPrivate(): boolean;
  principalFor(request: ServeRequest): Principal;
  /** One for each combination of menu and right to write. */
  serverFor(request: ServeRequest): McpServer;
  /** The console, which opens with its first link, at an address of the machine. */
  console(host?: string): Promise<DaemonConsole>;
  close(): Promise<void>;
}

/** A config by its key, which changes with the variables that it uses. */
interface ConfigSlot {
  key: string;
  config: Promise<Config> | undefined;
}

/** Opens configs for clients as `keyhole serve` does for one: with their environment, folder and rights. */
export class DaemonConfigs {
  readonly #idleMs: number;
  readonly #shared = createSharedServers();
  readonly #configs = new Map<string, ConfigSlot>();
  /** Sessions and results outlast this process: the next daemon goes on with them. */
  readonly #storage: () => ReturnType<typeof openStored>;
  readonly #sessions = lazy(() => this.#storage().open<string>("client", CLIENT_SESSIONS));

  /** `stored` is the file of sessions and results. */
  constructor({ idleMs, stored }: { readonly idleMs: number; readonly stored: string }) {
    this.#idleMs = idleMs;
    this.#storage = lazy(() => openStored(stored));
  }

  async open({ want, serve: request }: ServingRequest, reconnect: () => void): Promise<OpenedClient> {
    knowSecrets(secretVariables(request.env));
    const { cwd, env, config: named } = request;
    const [{ settings, problems }, own] = await Promise.all([
      loadSettings({ project: cwd, env, config: named }),
      loadSettings(),
    ]);
    if (!isDeepStrictEqual(ofProcess(settings), ofProcess(own.settings)))
      throw problem("DAEMON_FAILED", {
        reason: "the client's telemetry or logging differs from the daemon's, and a process has only one",
      });
    const { audit, learning, askAfterInjection, instructions, mcpServers } = settings;
    const member: Member = {
      request,
      settings: { audit, learning, askAfterInjection, ...(instructions && { instructions }) },
      programs: Object.values(mcpServers).map((server) =>
        findCommand(String(field(server, "command") ?? ""), env.PATH ?? "", workspaceOf(named)),
      ),
      skills: (await servedSkills(settings, cwd))?.places ?? [],
      reconnect,
    };
    const config = (want === "operate" && (await this.#findRunning(member))) || (await this.#join(member));
    if (want === "serve") config.isServed = true;
    return {
      notes: [
        ...problems.map(({ message, next }) => `${message} ${next}`),
        ...(config.gateway.pins.damage ? [config.gateway.pins.damage] : []),
      ],
      connect: (transport) =>
        config.serverFor(request).connect(transport, { folder: cwd, ...this.#sessionOf(request) }),
      operate: async (call, options) => {
        const { gateway } = config;
        if ((await gateway.sources.status()).length === 0) throw problem("NO_SERVERS");
        return callForPerson(gateway, call, { ...options, principal: config.principalFor(request) });
      },
      leave: () => this.#leave(config, member),
    };
  }

  /** The session that a client had before its connection ended. */
  #sessionOf({ client, config, profile = "" }: ServeRequest) {
    if (client === undefined) return {};
    const key = contentHash([client, config, profile]);
    const sessions = this.#sessions;
    return {
      session: {
        read: () => sessions().get(key, OWNER),
        keep: async (handle: string) => {
          if (!(await sessions().put(key, OWNER, handle))) await sessions().update(key, OWNER, () => handle);
        },
      },
    };
  }

  /**
   * A gateway that clients use already. The terminal of a person has other variables than their clients, which decide
   * how servers start, and these run.
   */
  async #findRunning(member: Member): Promise<Config | undefined> {
    const key = await keyOf(member, false);
    for (const slot of this.#configs.values()) {
      const config = await slot.config?.catch(() => undefined);
      if (!config?.isServed || config.isPrivate() || this.#configs.get(slot.key) !== slot) continue;
      if ((await keyOf(config.first, false)) !== key) continue;
      config.members.add(member);
      return config;
    }
    return undefined;
  }

  /** Only what decides about a gateway is in the key: most of an environment differs for each client. */
  async #join(member: Member): Promise<Config> {
    for (;;) {
      const key = await keyOf(member);
      const existing = this.#configs.get(key);
      if (!existing) {
        const slot: ConfigSlot = { key, config: undefined };
        this.#configs.set(key, slot);
        slot.config = this.#openSlot(slot, member);
        slot.config.catch(() => this.#forget(slot));
        return slot.config;
      }
      const config = await existing.config;
      // It may have been closed, or become exclusive, while we waited.
      if (!config || this.#configs.get(key) !== existing) continue;
      config.members.add(member);
      return config;
    }
  }

  async #openSlot(slot: ConfigSlot, first: Member): Promise<Config> {
    const { env, cwd } = first.request;
    const { profile, watch, ...opened } = await openConfig({
      ...first.request,
      folder: cwd,
      servers: { environment: env, shared: this.#shared, limits: { idleMs: this.#idleMs } },
    });
    const { options } = opened;
    let isPrivate = hasStatefulServer(opened.servers);
    if (isPrivate) this.#move(slot, randomUUID());
    const place = contentHash([first.request.config, first.request.profile ?? ""]);
    const { gateway, close } = openGateway({
      ...opened,
      options: { ...options, storage: (kind, rules) => this.#storage().open(`${kind} ${place}`, rules) },
    });
    const recorder = recordUse(gateway);
    const members = new Set([first]);
    const servers = new Map<string, McpServer>();
    const stopWatching = watch(async (all, next) => {
      const key = await keyOf(first);
      isPrivate = hasStatefulServer(next);
      // The config may now use a variable in which its clients differ.
      for (const member of [...members])
        if (member !== first && (isPrivate || (await keyOf(member)) !== key)) member.reconnect();
      await gateway.sources.set(all);
      this.#move(slot, isPrivate || this.#configs.has(key) ? randomUUID() : key);
    });
    let http: Promise<ConsoleServer> | undefined;
    const principalFor = ({ allowWrite }: ServeRequest) => principalOf({ options, profile, allowWrite });
    return {
      members,
      gateway,
      first,
      isServed: false,
      isPrivate: () => isPrivate,
      principalFor,
      serverFor: (request) => {
        const surface = chooseSurface(request.surface, profile);
        const principal = principalFor(request);
        const { shortcut: shortcuts } = request;
        const name = JSON.stringify([surface, principal, shortcuts]);
        const { instructions } = opened.settings;
        const menu = { surface, principal, shortcuts, ...(instructions && { instructions }) };
        const server = servers.get(name) ?? createMcpServer(gateway, menu);
        servers.set(name, server);
        return server;
      },
      console: async (host) => {
        http ??= openConsole(gateway, { ...opened, config: first.request.config }, recorder);
        const { config: path, profile: name } = first.request;
        return { config: path, ...(name && { profile: name }), link: await (await http).linkAt(host) };
      },
      close: async () => {
        this.#forget(slot);
        stopWatching();
        await (await http?.catch(() => undefined))?.close();
        await recorder.close();
        await Promise.all([...servers.values()].map((server) => server.close()));
        await close();
      },
    };
  }

  #forget(slot: ConfigSlot): void {
    if (this.#configs.get(slot.key) === slot) this.#configs.delete(slot.key);
  }

  #move(slot: ConfigSlot, key: string): void {
    this.#forget(slot);
    slot.key = key;
    this.#configs.set(key, slot);
  }

  #leave(config: Config, member: Member): void {
    config.members.delete(member);
    if (config.members.size > 0) return;
    const wait = config.isServed ? this.#idleMs : 0;
    setTimeout(() => {
      if (config.members.size === 0) void config.close();
    }, wait).unref();
  }

  /** The consoles of the configs whose clients are served. */
  async consoles(host?: string): Promise<readonly DaemonConsole[]> {
    const all = await Promise.allSettled([...this.#configs.values()].map(({ config }) => config));
    const configs = all.flatMap((one) => (one.status === "fulfilled" && one.value ? [one.value] : []));
    return Promise.all(configs.filter(({ isServed }) => isServed).map((config) => config.console(host)));
  }

  count() {
    return { configs: this.#configs.size, servers: this.#shared.size };
  }

  async close(): Promise<void> {
    const opened = await Promise.allSettled([...this.#configs.values()].map(({ config }) => config));
    await Promise.all(opened.map((one) => one.status === "fulfilled" && one.value?.close()));
    this.#storage().close();
  }
}

/** All clients are of one person. */
const OWNER = "client";
const DAY_MS = 86_400_000;
const CLIENT_SESSIONS = {
  all: { entries: 10_000, size: 1024 * 1024 },
  perOwner: { entries: 10_000, size: 1024 * 1024 },
  ttlMs: 7 * DAY_MS,
};

/** A damaged or unreadable database costs clients their earlier results and nothing else. */
function openStored(path: string): Pick<ReturnType<typeof openSqliteStorage>, "open" | "close"> {
  try {
    return openSqliteStorage(path);
  } catch (error) {
    console.error(`Sessions and results end with this daemon: ${reasonOf(error)}`);
    return { open: openMemoryStorage, close: () => {} };
  }
}

/** Watches a gateway from its first call on, so that a console that is opened later tells all of it. */
function recordUse(gateway: Gateway): CallRecorder {
  return createRecorder(gateway, { storage: openRecordFile(consoleFile()), wayOf });
}

/** Serves the console on this machine, at any free port. Nobody knows a token to call the gateway there. */
async function openConsole(
  gateway: Gateway,
  opened: Parameters<typeof consoleParts>[0],
  recorder: CallRecorder,
): Promise<ConsoleServer> {
  const [{ startConsole }, http] = await Promise.all([
    import("../../faces/http/serve-console.ts"),
    import("../open/open-http.ts"),
  ]);
  const { tokens: _, ...parts } = await http.consoleParts(opened);
  return startConsole(gateway, createMcpServer(gateway), { ...parts, recorder }, http.consoleState(opened));
}

/** Whether a server keeps state of its client, so that no other client may use it. */
function hasStatefulServer(sources: readonly ServerSource[]): boolean {
  return sources.some(({ isStateful }) => isStateful);
}

/** The settings that a process has once, whatever it serves. */
function ofProcess({ telemetry, logging }: Settings) {
  return { telemetry, logging };
}

/** Equal for clients that would get the same gateway. */
async function keyOf({ request, settings, programs, skills }: Member, startsServers = true): Promise<string> {
  const { config, profile, trust, env } = request;
  const text = await readFile(config, "utf8").catch(() => "");
  const used = [...text.matchAll(/\$\{(?:env:)?(\w+)/g)].map(([, name = ""]) => name);
  // Escapes can spell the name of any variable.
  const names = text.includes("\\u") ? Object.keys(env) : used;
  const variables = [...new Set(names)].sort().map((name) => [name, env[name] ?? null]);
  const path = await realpath(config).catch(() => config);
  const inherited = startsServers ? [tellingVariables(env), programs.map(String)] : [];
  return contentHash([path, profile ?? null, trust, settings, inherited, variables, skills]);
}
