import { problem } from "../../base/problems/problem.ts";
import { contentHash } from "../../base/util/content-hash.ts";
import { processKey } from "./config/server-program.ts";
import type { OpenedUpstream, OpenOptions, OpenTransport } from "./open-client.ts";

/** Servers shared by several gateways: one process for the same program, arguments, folder and relevant variables. */
export type SharedServers = ReturnType<typeof createSharedServers>;

interface Server {
  key: string;
  readonly users: Map<OpenOptions, OpenTransport>;
  /** The transport opened last. */
  transport?: OpenTransport;
  readonly opening: Promise<OpenedUpstream>;
  /** Ends the server, even while it opens. */
  end(): Promise<void>;
}

/**
 * Creates an empty set of shared servers. Servers over HTTP have no process to share.
 *
 * Sharing is safe: a call carries everything of its caller, clients with other roots get other processes once the
 * server asks for roots, and each user checks its own consent before it opens a server.
 */
export function createSharedServers() {
  const servers = new Map<string, Server>();

  function start(key: string, options: OpenOptions): Server {
    const users: Server["users"] = new Map();
    const unused = new AbortController();
    let isOpen = false;
    const forget = () => {
      if (servers.get(server.key) === server) servers.delete(server.key);
    };
    const opening = import("./open-client.ts").then(({ openClient }) =>
      openClient({
        ...options,
        signal: unused.signal,
        onListChanged: () => each(users, (user) => user.onListChanged()),
        onAsked: (fact) => each(users, (user) => user.onAsked(fact)),
        onLog: (...message) => each(users, (user) => user.onLog(...message)),
        onTransport: (next) => {
          server.transport = next;
          if (unused.signal.aborted) void next.release();
        },
        onClosed: () => {
          // Before that, opening itself fails or tries another protocol.
          if (!isOpen) return;
          forget();
          each(users, (user, its) => user.onClosed(its));
        },
      }),
    );
    opening.then(() => {
      isOpen = true;
    }, forget);
    const server: Server = {
      key,
      users,
      opening,
      end: async () => {
        forget();
        unused.abort();
        await server.transport?.release();
        await opening.then(({ transport }) => transport.release()).catch(() => {});
      },
    };
    servers.set(key, server);
    return server;
  }

  function join(server: Server, options: OpenOptions): Promise<OpenedUpstream> {
    const released = Promise.withResolvers<never>();
    released.promise.catch(() => {});
    const transport: OpenTransport = {
      get wire() {
        return server.transport!.wire;
      },
      get process() {
        return server.transport?.process;
      },
      get ending() {
        return server.transport?.ending;
      },
      get running() {
        return server.transport!.running;
      },
      changeRoots: (roots) => {
        const key = keyOf({ ...options, seen: options.seen && { ...options.seen, roots } });
        if (server.users.size > 1 || servers.has(key) || !server.transport?.changeRoots(roots)) return false;
        servers.delete(server.key);
        server.key = key;
        servers.set(key, server);
        return true;
      },
      release: async () => {
        server.users.delete(options);
        released.reject(problem("CLOSED"));
        if (server.users.size === 0) await server.end();
      },
    };
    server.users.set(options, transport);
    options.onTransport(transport);
    const opened = server.opening.then((shared): OpenedUpstream => ({ ...shared, transport }));
    return Promise.race([opened, released.promise]);
  }

  return {
    /** Opens a server, or joins its users. Each user has a connection that it can end or release. */
    open: async (options: OpenOptions): Promise<OpenedUpstream> => {
      if (options.config.transport === "http") return (await import("./open-client.ts")).openClient(options);
      const key = keyOf(options);
      return join(servers.get(key) ?? start(key, options), options);
    },
    /** Number of running servers. */
    get size() {
      return servers.size;
    },
  };
}

function keyOf(options: OpenOptions): string {
  const { config, limits, seen } = options;
  const program = config.transport === "stdio" ? processKey(config, options) : config.url;
  return contentHash([program, limits.maxLineBytes, limits.graceMs, JSON.stringify(seen ?? {})]);
}

function each(users: Server["users"], call: (user: OpenOptions, transport: OpenTransport) => void): void {
  for (const [user, transport] of [...users]) call(user, transport);
}
