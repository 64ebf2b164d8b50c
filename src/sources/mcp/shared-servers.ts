import { problem } from "../../schema/problem.ts";
import { contentHash } from "../../util/content-hash.ts";
import { toLaunch } from "./config/to-launch.ts";
import type { Made, Opened, OpenOptions } from "./open-client.ts";

/** Servers that several gateways use: one process for the same command, arguments, environment and folder. */
export interface SharedServers {
  /** Opens a server, or joins those who use it. Each user has a connection that it can end or give up. */
  open(options: OpenOptions): Promise<Opened>;
  /** How many servers run. */
  readonly size: number;
}

interface Server {
  readonly users: Map<OpenOptions, Made>;
  readonly running: Set<unknown>;
  /** The transport that was opened last. */
  readonly made: Made | undefined;
  readonly opening: Promise<Opened>;
  /** Ends the server, also while it opens. */
  end(): Promise<void>;
}

/**
 * Creates an empty set of shared servers. Servers over HTTP are no processes, so they are not shared.
 *
 * Sharing is safe because a call carries everything of its caller: progress, questions and roots belong to requests,
 * and each user asks for its own consent before it opens a server.
 */
export function createSharedServers(): SharedServers {
  const servers = new Map<string, Server>();

  function start(key: string, options: OpenOptions): Server {
    const users: Server["users"] = new Map();
    const unused = new AbortController();
    let made: Made | undefined;
    let isOpen = false;
    const forget = () => {
      if (servers.get(key) === server) servers.delete(key);
    };
    const opening = import("./open-client.ts").then(({ openClient }) =>
      openClient({
        ...options,
        signal: unused.signal,
        onListChanged: () => each(users, (user) => user.onListChanged()),
        onLog: (...said) => each(users, (user) => user.onLog(...said)),
        onMade: (next) => {
          made = next;
          if (unused.signal.aborted) void next.release();
        },
        onClosed: () => {
          // Before that, the opening itself fails or tries another protocol.
          if (!isOpen) return;
          forget();
          each(users, (user, theirs) => user.onClosed(theirs));
        },
      }),
    );
    opening.then(() => {
      isOpen = true;
    }, forget);
    const server: Server = {
      users,
      running: new Set(),
      get made() {
        return made;
      },
      opening,
      end: async () => {
        forget();
        unused.abort();
        await made?.release();
        await opening.then(
          (opened) => opened.made.release(),
          () => {},
        );
      },
    };
    servers.set(key, server);
    return server;
  }

  function join(server: Server, options: OpenOptions): Promise<Opened> {
    const left = Promise.withResolvers<never>();
    left.promise.catch(() => {});
    const made: Made = {
      get transport() {
        return server.made!.transport;
      },
      get process() {
        return server.made?.process;
      },
      get ending() {
        return server.made?.ending;
      },
      running: server.running,
      release: async () => {
        server.users.delete(options);
        left.reject(problem("CLOSED"));
        if (server.users.size === 0) await server.end();
      },
    };
    server.users.set(options, made);
    options.onMade(made);
    const opened = server.opening.then((theirs): Opened => ({ ...theirs, made }));
    return Promise.race([opened, left.promise]);
  }

  return {
    open: async (options) => {
      const { config, maxLineBytes, graceMs } = options;
      if (config.transport === "http") return (await import("./open-client.ts")).openClient(options);
      const key = contentHash([toLaunch(config, options), maxLineBytes, graceMs]);
      return join(servers.get(key) ?? start(key, options), options);
    },
    get size() {
      return servers.size;
    },
  };
}

function each(users: Server["users"], tell: (user: OpenOptions, made: Made) => void): void {
  for (const [user, made] of [...users]) tell(user, made);
}
