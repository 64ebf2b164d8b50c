import { randomUUID } from "node:crypto";
import { readFile, realpath } from "node:fs/promises";
import { loadSettings } from "../config/load-settings.ts";
import type { Settings } from "../config/settings-schema.ts";
import type { Opened } from "../daemon/daemon.ts";
import type { ServeRequest } from "../daemon/wire.ts";
import { createGateway } from "../gateway.ts";
import type { Gateway } from "../gateway-api.ts";
import { createMcpServer, type McpServer } from "../mcp/mcp-server.ts";
import { knowSecrets } from "../net/known-secrets.ts";
import { inherited } from "../sources/mcp/config/to-launch.ts";
import type { McpSource } from "../sources/mcp/mcp-source.ts";
import { createSharedServers } from "../sources/mcp/shared-servers.ts";
import { contentHash } from "../util/content-hash.ts";
import { secretVariables } from "../util/secret-values.ts";
import { chooseSurface } from "./choose-surface.ts";
import { closeAudit, openAudit } from "./open-audit.ts";
import { openConfig } from "./open-config.ts";
import { openIndex } from "./open-index.ts";
import { openLearning } from "./open-learning.ts";
import { cacheFolder, recipesFolder } from "./user-folders.ts";

/** A client of a config, and the way to make it open the config again. */
interface Member {
  readonly request: ServeRequest;
  readonly settings: Pick<Settings, "audit" | "learning">;
  moveAway(): void;
}

/** A config in use. Clients that would get the same gateway share it. */
interface Config {
  readonly members: Set<Member>;
  readonly gateway: Gateway;
  /** One for each combination of menu and right to write. */
  serverFor(request: ServeRequest): McpServer;
  close(): Promise<void>;
}

/** A config by its key, which changes with the variables that it uses. */
interface Place {
  key: string;
  config: Promise<Config> | undefined;
}

export interface DaemonConfigs {
  open(request: ServeRequest, moveAway: () => void): Promise<Opened>;
  count(): { configs: number; servers: number };
  close(): Promise<void>;
}

/** Opens configs for clients as `keyhole serve` does for one: with their environment, folder and rights. */
export function createDaemonConfigs({ idleMs }: { readonly idleMs: number }): DaemonConfigs {
  const shared = createSharedServers();
  const configs = new Map<string, Place>();

  async function open(request: ServeRequest, moveAway: () => void): Promise<Opened> {
    knowSecrets(secretVariables(request.env));
    const { settings, problems } = await loadSettings({
      project: request.cwd,
      env: request.env,
      config: request.config,
    });
    const { audit, learning } = settings;
    const member: Member = { request, settings: { audit, learning }, moveAway };
    const config = await join(member);
    return {
      notes: [
        ...problems.map(({ message, next }) => `${message} ${next}`),
        ...(config.gateway.pins.damage ? [config.gateway.pins.damage] : []),
      ],
      connect: (transport) => config.serverFor(request).connect(transport),
      leave: () => leave(config, member),
    };
  }

  /** Only what decides about a gateway is in the key: most of an environment differs for each client. */
  async function join(member: Member): Promise<Config> {
    for (;;) {
      const key = await keyOf(member);
      const known = configs.get(key);
      if (!known) {
        const place: Place = { key, config: undefined };
        configs.set(key, place);
        place.config = openPlace(place, member);
        place.config.catch(() => forget(place));
        return place.config;
      }
      const config = await known.config;
      // Meanwhile it may have been closed, or may have turned out to be for one client alone.
      if (!config || configs.get(key) !== known) continue;
      config.members.add(member);
      return config;
    }
  }

  async function openPlace(place: Place, first: Member): Promise<Config> {
    const { config, profile: chosen, trusted, env, cwd } = first.request;
    const {
      options,
      servers: named,
      profile,
      watch,
    } = await openConfig({
      config,
      profile: chosen,
      trust: trusted,
      folder: cwd,
      env,
      servers: { environment: env, shared, limits: { idleMs } },
    });
    if (isForOne(named)) move(place, randomUUID());
    const audit = openAudit(first.settings.audit);
    const gateway = createGateway({
      cacheDirectory: cacheFolder(),
      index: openIndex(config, chosen),
      recipes: recipesFolder(),
      ...(audit && { audit }),
      learning: openLearning(first.settings.learning),
      ...options,
      principal: { id: "local", scopes: [], allowWrite: false },
    });
    const members = new Set([first]);
    const servers = new Map<string, McpServer>();
    const stopWatching = watch(async (all, next) => {
      const key = await keyOf(first);
      const isPrivate = isForOne(next);
      // The config may now use a variable in which its clients differ.
      for (const member of [...members])
        if (member !== first && (isPrivate || (await keyOf(member)) !== key)) member.moveAway();
      await gateway.sources.set(all);
      move(place, isPrivate || configs.has(key) ? randomUUID() : key);
    });
    return {
      members,
      gateway,
      serverFor: (request) => {
        const surface = chooseSurface(request.surface, profile);
        const allowWrite = request.allowWrite || profile.allowWrite === true;
        const { shortcuts, learnedShortcuts = 0 } = request;
        const name = JSON.stringify([surface, allowWrite, shortcuts, learnedShortcuts]);
        const principal = { id: "local", scopes: [], allowWrite };
        const server =
          servers.get(name) ?? createMcpServer(gateway, { surface, principal, shortcuts, learnedShortcuts });
        servers.set(name, server);
        return server;
      },
      close: async () => {
        forget(place);
        stopWatching();
        await Promise.all([...servers.values()].map((server) => server.close()));
        await gateway.close();
        await closeAudit(audit);
      },
    };
  }

  function forget(place: Place): void {
    if (configs.get(place.key) === place) configs.delete(place.key);
  }

  function move(place: Place, key: string): void {
    forget(place);
    place.key = key;
    configs.set(key, place);
  }

  function leave(config: Config, member: Member): void {
    config.members.delete(member);
    if (config.members.size > 0) return;
    setTimeout(() => {
      if (config.members.size === 0) void config.close();
    }, idleMs).unref();
  }

  return {
    open,
    count: () => ({ configs: configs.size, servers: shared.size }),
    close: async () => {
      const opened = await Promise.allSettled([...configs.values()].map(({ config }) => config));
      await Promise.all(opened.map((one) => one.status === "fulfilled" && one.value?.close()));
    },
  };
}

/** Whether a server keeps state of its client, so that no other client may use it. */
function isForOne(sources: readonly McpSource[]): boolean {
  return sources.some(({ isStateful }) => isStateful);
}

/** Equal for clients that would get the same gateway. */
async function keyOf({ request, settings }: Member): Promise<string> {
  const { config, profile, trusted, env } = request;
  const text = await readFile(config, "utf8").catch(() => "");
  const used = [...text.matchAll(/\$\{(?:env:)?(\w+)/g)].map(([, name = ""]) => name);
  // Escapes can spell the name of any variable.
  const names = text.includes("\\u") ? Object.keys(env) : used;
  const variables = [...new Set(names)].sort().map((name) => [name, env[name] ?? null]);
  const path = await realpath(config).catch(() => config);
  return contentHash([path, profile ?? null, trusted, settings, inherited(env), variables]);
}
