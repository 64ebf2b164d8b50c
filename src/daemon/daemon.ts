import { timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import type { Transport } from "@modelcontextprotocol/server";
import { isProblem, problem } from "../schema/problem.ts";
import { makeOwnFolder } from "../util/own-folder.ts";
import { reasonOf } from "../util/reason-of.ts";
import { newCard } from "./new-card.ts";
import { type Card, isCurrent, type Place, protectSocket, removeCard, writeCard } from "./place.ts";
import { type Client, serveClient } from "./serve-client.ts";
import {
  type DaemonStatus,
  type Hello,
  isNewer,
  MOVED,
  readFirstLine,
  type ServeRequest,
  STOPPED,
  type Welcome,
  WIRE,
} from "./wire.ts";

/** A config that was opened for one client. */
export interface Opened {
  /** Sentences for the person who uses the client. */
  readonly notes: readonly string[];
  connect(transport: Transport): unknown;
  /** The client has left. */
  leave(): void;
}

export interface DaemonOptions {
  readonly place: Place;
  readonly version: string;
  /** How long the daemon stays without clients. */
  readonly idleMs: number;
  /** How often it checks that it is still the daemon in use. */
  readonly checkMs?: number;
  /** Opens a config for a client. `moveAway` sends the client to open it again. Rejects with a problem. */
  open(request: ServeRequest, moveAway: () => void): Promise<Opened>;
  count(): Pick<DaemonStatus, "configs" | "servers">;
}

/** One process that serves all clients of a person. */
export interface Daemon {
  readonly card: Card;
  /** Resolves when the last client has left after a stop, a hand-over or a time without clients. */
  readonly ended: Promise<void>;
  /** Lets calls in flight finish, and takes no more. */
  stop(): void;
}

const CHECK_MS = 2_000;
const HELLO_MS = 10_000;
const MAX_HELLO_BYTES = 8 * 1024 * 1024;
const MEGABYTE = 1024 * 1024;

/**
 * Listens for the clients of one person and becomes the daemon in use.
 *
 * @throws DAEMON_FAILED if nobody else can be kept out of its folder, or if it cannot listen there
 */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const { place, version, idleMs } = options;
  const card = newCard(place, version);
  if (!card) throw failed("the path of its folder is too long for a socket");
  if (!makeOwnFolder(place.folder)) throw failed("its folder is not of its owner alone");
  const clients = new Set<Client>();
  const started = performance.now();
  const ended = Promise.withResolvers<void>();
  let leaving: string | undefined;
  let idle: NodeJS.Timeout | undefined;

  async function receive(socket: Socket): Promise<void> {
    socket.on("error", () => {});
    const late = setTimeout(() => socket.destroy(), HELLO_MS);
    const line = await readFirstLine(socket, MAX_HELLO_BYTES);
    clearTimeout(late);
    const hello = line === undefined ? undefined : readHello(line, card!.token);
    if (!hello) return void socket.destroy();
    if (hello.want === "serve") return serve(socket, hello.serve, hello.version);
    socket.end(toLine({ ok: true, status: status() }));
    if (hello.want === "stop") leave(STOPPED);
  }

  async function serve(socket: Socket, request: ServeRequest, clientVersion: string): Promise<void> {
    if (isNewer(clientVersion, version)) leave(MOVED);
    if (leaving) return void socket.end(toLine({ ok: false, retired: true }));
    // Counts as a client from now on, so that the daemon waits for it.
    let isMoved = false;
    let client: Client = {
      leave: () => {
        isMoved = true;
      },
    };
    const gone = () => {
      clients.delete(client);
      endIfUnused();
    };
    clients.add(client);
    clearTimeout(idle);
    let opened: Opened;
    try {
      opened = await options.open(request, () => client.leave(MOVED));
    } catch (error) {
      socket.end(toLine({ ok: false, problem: toTold(error) }));
      return gone();
    }
    const leaveConfig = () => {
      opened.leave();
      gone();
    };
    if (socket.destroyed) return leaveConfig();
    socket.once("close", leaveConfig);
    socket.write(toLine({ ok: true, notes: opened.notes }));
    clients.delete(client);
    client = serveClient(socket, opened.connect);
    clients.add(client);
    if (isMoved) client.leave(leaving ?? MOVED);
  }

  function status(): DaemonStatus {
    return {
      pid: process.pid,
      version,
      clients: clients.size,
      ...options.count(),
      memoryMb: Math.round(process.memoryUsage.rss() / MEGABYTE),
      upSeconds: Math.round((performance.now() - started) / 1_000),
    };
  }

  /** Takes no more clients and sends away those who are there, each when its calls are done. */
  function leave(word: string): void {
    if (leaving) return;
    leaving = word;
    clearInterval(check);
    server.close();
    removeCard(place, card!);
    for (const client of clients) client.leave(word);
    endIfUnused();
  }

  function endIfUnused(): void {
    clearTimeout(idle);
    if (clients.size > 0) return;
    if (leaving) ended.resolve();
    else idle = setTimeout(() => leave(STOPPED), idleMs);
  }

  const server = createServer((socket) => {
    receive(socket).catch((error: unknown) => {
      console.error(reasonOf(error));
      socket.destroy();
    });
  });
  server.listen(card.path);
  await once(server, "listening").catch((error: unknown) => {
    throw failed(reasonOf(error));
  });
  protectSocket(card.path);
  writeCard(place, card);
  // Another daemon may have taken over, and the folder may be gone.
  const check = setInterval(() => {
    if (!isCurrent(place, card)) leave(MOVED);
  }, options.checkMs ?? CHECK_MS);
  endIfUnused();
  return { card, ended: ended.promise, stop: () => leave(STOPPED) };
}

function readHello(line: string, token: string): Hello | undefined {
  try {
    const hello = JSON.parse(line) as Hello;
    const [given, own] = [Buffer.from(String(hello.token)), Buffer.from(token)];
    const isKnown = given.length === own.length && timingSafeEqual(given, own);
    return isKnown && hello.wire === WIRE ? hello : undefined;
  } catch {
    return undefined;
  }
}

function toLine(welcome: Welcome): string {
  return `${JSON.stringify(welcome)}\n`;
}

function toTold(error: unknown) {
  const { code, message, next } = isProblem(error) ? error : failed(reasonOf(error));
  return [code, message, next] as const;
}

function failed(reason: string) {
  return problem("DAEMON_FAILED", { reason });
}
