import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmodSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import { isProblem, problem } from "../../base/problems/problem.ts";
import { isSameSecret } from "../../base/safety/same-secret.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import { createLineTransport } from "../../faces/mcp/line-transport.ts";
import type { ToolAnswer } from "../../gateway/toolbox.ts";
import { makeOwnFolder } from "../../sources/mcp/own-folder.ts";
import type { TerminalCall, TerminalCallOptions } from "../open/open-local.ts";
import {
  type DaemonAddress,
  type DaemonPaths,
  isCurrent,
  removeAddress,
  writeAddress,
} from "./daemon-paths.ts";
import {
  type ClosingReason,
  type DaemonConsole,
  type DaemonRequest,
  type DaemonStatus,
  type Hello,
  isNewer,
  readFirstLine,
  type ServeRequest,
  type Welcome,
  WIRE,
} from "./handshake.ts";
import { servePerson } from "./terminal-calls.ts";

/** A config that was opened for one client. */
export interface OpenedClient {
  /** Sentences for the person who uses the client. */
  readonly notes: readonly string[];
  connect(transport: Transport): unknown;
  operate(call: TerminalCall, options: TerminalCallOptions): Promise<ToolAnswer>;
  leave(): void;
}

/** A client, or a person who makes one call. */
export type ServingRequest = Extract<DaemonRequest, { readonly serve: ServeRequest }>;

export interface DaemonOptions {
  readonly paths: DaemonPaths;
  readonly version: string;
  /** How long the daemon stays without clients. */
  readonly idleMs: number;
  /** How often it checks that it is still the daemon in use. */
  readonly checkMs?: number;
  /** Whether the files of the program are those of another version by now, so that the next daemon has to go on. */
  isReplaced?(): boolean;
  readonly configs: OpenConfigs;
  /** Called when a request of a client begins. Returns what to call when it has ended. */
  begin?(): () => void;
}

/** The configs that the daemon's clients use. */
interface OpenConfigs {
  /** Opens a config for a client. `reconnect` makes the client open it again. Rejects with a problem. */
  open(request: ServingRequest, reconnect: () => void): Promise<OpenedClient>;
  count(): Pick<DaemonStatus, "configs" | "servers">;
  /** The consoles of configs whose clients are served. Rejects with a problem. */
  consoles(host?: string): Promise<readonly DaemonConsole[]>;
}

/** One process that serves all clients of a person. */
export type Daemon = Awaited<ReturnType<typeof startDaemon>>;

const CHECK_MS = 2_000;
const HELLO_MS = 10_000;
const MAX_HELLO_BYTES = 8 * 1024 * 1024;
const MEGABYTE = 1024 * 1024;

/**
 * Listens for the clients of one person and becomes the daemon in use.
 *
 * @throws DAEMON_FAILED if nobody else can be kept out of its folder, or if it cannot listen there
 */
export async function startDaemon(options: DaemonOptions) {
  const { paths, version } = options;
  const address = createAddress(paths, version);
  if (!makeOwnFolder(paths.folder)) throw failed("its folder is not of its owner alone");
  const daemon = new RunningDaemon(options, address);
  await daemon.listen();
  return {
    address,
    /** Resolves when the last client has left after a stop, a hand-over or a time without clients. */
    ended: daemon.ended.promise,
    /** Lets calls in flight finish, and takes no more. */
    stop: () => daemon.leave("stopped"),
  };
}

class RunningDaemon {
  readonly ended = Promise.withResolvers<void>();
  readonly #options: DaemonOptions;
  readonly #address: DaemonAddress;
  readonly #clients = new Set<DaemonClient>();
  readonly #started = performance.now();
  readonly #server: Server;
  #leaving: ClosingReason | undefined;
  #idle: NodeJS.Timeout | undefined;
  #check: NodeJS.Timeout | undefined;

  constructor(options: DaemonOptions, address: DaemonAddress) {
    this.#options = options;
    this.#address = address;
    this.#server = createServer((socket) => {
      this.#receive(socket).catch((error: unknown) => {
        console.error(reasonOf(error));
        socket.destroy();
      });
    });
  }

  async listen(): Promise<void> {
    const { paths, checkMs = CHECK_MS, isReplaced } = this.#options;
    this.#server.listen(this.#address.path);
    await once(this.#server, "listening").catch((error: unknown) => {
      throw failed(reasonOf(error));
    });
    if (process.platform !== "win32") chmodSync(this.#address.path, 0o600);
    writeAddress(paths, this.#address);
    // Another daemon may have taken over, the folder may be gone, and an upgrade removes files that load later.
    this.#check = setInterval(() => {
      if (!isCurrent(paths, this.#address) || isReplaced?.()) this.leave("moved");
    }, checkMs);
    this.#endIfUnused();
  }

  async #receive(socket: Socket): Promise<void> {
    socket.on("error", () => {});
    const late = setTimeout(() => socket.destroy(), HELLO_MS);
    const line = await readFirstLine(socket, MAX_HELLO_BYTES);
    clearTimeout(late);
    const hello = line === undefined ? undefined : readHello(line, this.#address.token);
    if (!hello) return void socket.destroy();
    if (hello.want === "serve" || hello.want === "operate") return this.#serve(socket, hello);
    if (hello.want === "console") {
      const welcome: Welcome = await this.#options.configs.consoles(hello.host).then(
        (consoles) => ({ ok: true, consoles }),
        (error: unknown) => ({ ok: false, problem: problemParts(error) }),
      );
      return void socket.end(toLine(welcome));
    }
    socket.end(toLine({ ok: true, status: this.#status() }));
    if (hello.want === "stop") this.leave("stopped");
  }

  async #serve(socket: Socket, hello: ServingRequest & Pick<Hello, "version">): Promise<void> {
    if (isNewer(hello.version, this.#options.version)) this.leave("moved");
    if (this.#leaving) return void socket.end(toLine({ ok: false, retired: true }));
    // Counts as a client from now on, so that the daemon waits for it.
    let isMoved = false;
    let client: DaemonClient = {
      leave: () => {
        isMoved = true;
      },
    };
    const gone = () => {
      this.#clients.delete(client);
      this.#endIfUnused();
    };
    this.#clients.add(client);
    clearTimeout(this.#idle);
    let opened: OpenedClient;
    try {
      opened = await this.#options.configs.open(hello, () => client.leave("moved"));
    } catch (error) {
      socket.end(toLine({ ok: false, problem: problemParts(error) }));
      return gone();
    }
    const leaveConfig = () => {
      opened.leave();
      gone();
    };
    if (socket.destroyed) return leaveConfig();
    socket.once("close", leaveConfig);
    socket.write(toLine({ ok: true, notes: opened.notes }));
    this.#clients.delete(client);
    if (hello.want === "serve") client = serveClient(socket, opened.connect, this.#options.begin);
    else servePerson(socket, opened.operate);
    this.#clients.add(client);
    if (isMoved) client.leave(this.#leaving ?? "moved");
  }

  #status(): DaemonStatus {
    return {
      pid: process.pid,
      version: this.#options.version,
      clients: this.#clients.size,
      ...this.#options.configs.count(),
      memoryMb: Math.round(process.memoryUsage.rss() / MEGABYTE),
      upSeconds: Math.round((performance.now() - this.#started) / 1_000),
    };
  }

  /** Takes no more clients and sends away those who are there, each when its calls are done. */
  leave(reason: ClosingReason): void {
    if (this.#leaving) return;
    this.#leaving = reason;
    clearInterval(this.#check);
    this.#server.close();
    removeAddress(this.#options.paths, this.#address);
    for (const client of this.#clients) client.leave(reason);
    this.#endIfUnused();
  }

  #endIfUnused(): void {
    clearTimeout(this.#idle);
    if (this.#clients.size > 0) return;
    if (this.#leaving) this.ended.resolve();
    else this.#idle = setTimeout(() => this.leave("stopped"), this.#options.idleMs);
  }
}

function readHello(line: string, token: string): Hello | undefined {
  try {
    const hello = JSON.parse(line) as Hello;
    return isSameSecret(String(hello.token), token) && hello.wire === WIRE ? hello : undefined;
  } catch {
    return undefined;
  }
}

function toLine(welcome: Welcome): string {
  return `${JSON.stringify(welcome)}\n`;
}

/** A problem in the form that the wire carries. */
function problemParts(error: unknown) {
  const { code, message, next } = isProblem(error) ? error : failed(reasonOf(error));
  return [code, message, next] as const;
}

function failed(reason: string) {
  return problem("DAEMON_FAILED", { reason });
}

/** Longer paths of sockets are cut by some systems. */
const MAX_PATH = 100;

function createAddress({ folder }: DaemonPaths, version: string): DaemonAddress {
  const id = randomBytes(6).toString("hex");
  const path =
    process.platform === "win32" ? `\\\\.\\pipe\\keyhole-${process.pid}-${id}` : join(folder, `${id}.sock`);
  if (process.platform !== "win32" && Buffer.byteLength(path) > MAX_PATH)
    throw failed("the path of its folder is too long for a socket");
  return { pid: process.pid, version, path, token: randomBytes(32).toString("base64url") };
}

interface DaemonClient {
  /** Closes the connection with this reason as soon as no request runs. Requests that arrive meanwhile are not begun. */
  leave(reason: ClosingReason): void;
}

type RequestId = string | number;

/** Lasts until the client leaves, so nothing waits for its answer. */
const ENDLESS = "subscriptions/listen";

/** Serves the protocol over a socket, one message a line. */
function serveClient(
  socket: Socket,
  connect: OpenedClient["connect"],
  begin: () => () => void = () => () => {},
): DaemonClient {
  const wire = createLineTransport(socket, socket);
  /** Called when a request has ended. */
  const running = new Map<RequestId, () => void>();
  let leaving: ClosingReason | undefined;
  const transport: Transport = {
    start: async () => {
      await wire.start();
      // Reading the first line has paused it.
      socket.resume();
    },
    close: () => wire.close(),
    send: async (message) => {
      const sent = wire.send(message);
      if (!("method" in message)) done(message.id);
      await sent;
    },
  };

  function take(message: JSONRPCMessage): void {
    if ("method" in message && "id" in message) {
      if (leaving) return;
      if (message.method !== ENDLESS && !running.has(message.id)) running.set(message.id, begin());
    }
    transport.onmessage?.(message);
    // A request that is cancelled gets no answer.
    if ("method" in message && message.method === "notifications/cancelled")
      done((message.params as { requestId?: RequestId } | undefined)?.requestId);
  }

  function done(id: RequestId | undefined): void {
    if (id !== undefined) running.get(id)?.();
    if (id !== undefined) running.delete(id);
    leaveIfDone();
  }

  function leaveIfDone(): void {
    if (leaving && running.size === 0) socket.end(`${leaving}\n`);
  }

  wire.onmessage = take;
  wire.onclose = () => {
    for (const id of running.keys()) done(id);
    transport.onclose?.();
    // A connection that nobody reads any more would keep its client waiting.
    socket.destroySoon();
  };
  wire.onerror = (error) => transport.onerror?.(error);
  connect(transport);
  return {
    leave: (reason) => {
      leaving ??= reason;
      leaveIfDone();
    },
  };
}
