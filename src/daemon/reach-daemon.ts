import type { ChildProcess } from "node:child_process";
import { closeSync, lstatSync, openSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { problem, problemSaying } from "../schema/problem.ts";
import { makeOwnFolder } from "../util/own-folder.ts";
import { type Card, type Place, readCard } from "./place.ts";
import { type Hello, readFirstLine, type ServeRequest, type Welcome, WIRE } from "./wire.ts";

export interface Reached {
  readonly socket: Socket;
  readonly notes: readonly string[];
}

export interface ReachOptions {
  readonly place: Place;
  readonly version: string;
  readonly serve: ServeRequest;
  /** Starts a daemon. It exits with another code than 0 if it cannot run. */
  start(): Promise<ChildProcess>;
}

const POLL_MS = 15;
/** How long a new daemon may take until it answers. */
const START_MS = 20_000;
const ANSWER_MS = 10_000;
const MAX_WELCOME_BYTES = 1024 * 1024;

/**
 * Connects to the daemon in use, and starts one if there is none or if it is older than this program.
 *
 * @throws DAEMON_FAILED if none can be reached; any problem of the config
 */
export async function reachDaemon({ place, version, serve, start }: ReachOptions): Promise<Reached> {
  if (!makeOwnFolder(place.folder)) throw failed("its folder is not of its owner alone");
  const retired = new Set<string>();
  let child: ChildProcess | undefined;
  try {
    // `performance` would cost every relay half a megabyte.
    for (const end = process.uptime() + START_MS / 1_000; process.uptime() < end; await pause()) {
      const card = readCard(place);
      const met = card && !retired.has(card.token) && (await greet(card, { version, want: "serve", serve }));
      if (met) {
        const { welcome, socket } = met;
        if (welcome.ok) return { socket, notes: "notes" in welcome ? welcome.notes : [] };
        socket.destroy();
        if ("problem" in welcome) throw problemSaying(...welcome.problem);
      }
      // Its socket may be left from a daemon that was killed.
      if (card) retired.add(card.token);
      if (child?.exitCode) throw failed(`it exited with code ${child.exitCode}; its log is ${place.log}`);
      if (!child && takeLock(place)) child = await start();
    }
    throw failed(`it did not answer within ${START_MS / 1_000} seconds; its log is ${place.log}`);
  } finally {
    if (child) rmSync(place.lock, { force: true });
  }
}

/** Sends a first line. Undefined if nobody answers. */
export async function greet(
  { path, token }: Card,
  request:
    | { version: string; want: "status" | "stop" }
    | { version: string; want: "serve"; serve: ServeRequest },
): Promise<{ readonly socket: Socket; readonly welcome: Welcome } | undefined> {
  const socket = connect(path);
  socket.on("error", () => {});
  const late = setTimeout(() => socket.destroy(), ANSWER_MS);
  const hello: Hello = { wire: WIRE, token, ...request };
  socket.write(`${JSON.stringify(hello)}\n`);
  const line = await readFirstLine(socket, MAX_WELCOME_BYTES);
  clearTimeout(late);
  if (line !== undefined) return { socket, welcome: JSON.parse(line) as Welcome };
  socket.destroy();
  return undefined;
}

/** Whether this process is the one that starts a daemon. A lock that is older than a start is of a killed process. */
function takeLock({ lock }: Place): boolean {
  const since = lstatSync(lock, { throwIfNoEntry: false })?.mtimeMs;
  if (since !== undefined && Date.now() - since > START_MS) rmSync(lock, { force: true });
  try {
    closeSync(openSync(lock, "wx", 0o600));
    return true;
  } catch {
    return false;
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, POLL_MS));
}

function failed(reason: string) {
  return problem("DAEMON_FAILED", { reason });
}
