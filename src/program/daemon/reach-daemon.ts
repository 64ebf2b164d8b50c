import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, lstatSync, openSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { homedir } from "node:os";
import { customProblem, problem } from "../../base/problems/problem.ts";
import { MARKER } from "../../base/util/process-marker.ts";
import { makeOwnFolder } from "../../sources/mcp/own-folder.ts";
import { type DaemonAddress, type DaemonPaths, readAddress } from "./daemon-paths.ts";
import {
  type DaemonRequest,
  type Hello,
  readFirstLine,
  type ServeRequest,
  type Welcome,
  WIRE,
} from "./handshake.ts";

export interface ReachOptions {
  readonly paths: DaemonPaths;
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
export async function reachDaemon({ paths, version, serve, start }: ReachOptions) {
  if (!makeOwnFolder(paths.folder)) throw failed("its folder is not of its owner alone");
  const retired = new Set<string>();
  let child: ChildProcess | undefined;
  try {
    for (const end = performance.now() + START_MS; performance.now() < end; await pause()) {
      const address = readAddress(paths);
      const met =
        address && !retired.has(address.token) && (await greet(address, { version, want: "serve", serve }));
      if (met) {
        const { welcome, socket } = met;
        if (welcome.ok) return { socket, notes: "notes" in welcome ? welcome.notes : [] };
        socket.destroy();
        if ("problem" in welcome) throw customProblem(...welcome.problem);
      }
      // Its socket may be left from a daemon that was killed.
      if (address) retired.add(address.token);
      if (child?.exitCode) throw failed(`it exited with code ${child.exitCode}; its log is ${paths.log}`);
      if (!child && takeLock(paths)) child = await start();
    }
    throw failed(`it did not answer within ${START_MS / 1_000} seconds; its log is ${paths.log}`);
  } finally {
    if (child) rmSync(paths.lock, { force: true });
  }
}

/** Sends a first line. Undefined if nobody answers. */
export async function greet(
  { path, token }: DaemonAddress,
  request: { readonly version: string } & DaemonRequest,
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

/** Whether this process is the one that starts a daemon. A lock older than START_MS was left by a killed process. */
function takeLock({ lock }: DaemonPaths): boolean {
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

const MAX_LOG_BYTES = 1024 * 1024;

/** Starts a daemon that outlives this process. Its output goes to a log beside its socket. */
export function spawnDaemon(paths: DaemonPaths): ChildProcess {
  const size = lstatSync(paths.log, { throwIfNoEntry: false })?.size ?? 0;
  // A log that has become large starts anew.
  const log = openSync(paths.log, size > MAX_LOG_BYTES ? "w" : "a", 0o600);
  // A gateway that runs this client as its server must not end the daemon of everybody with it.
  const { [MARKER]: _, ...env } = process.env;
  const args = [...process.execArgv, process.argv[1]!, "serve", "--daemon"];
  const child = spawn(process.execPath, args, {
    detached: true,
    stdio: ["ignore", log, log],
    cwd: homedir(),
    env,
    windowsHide: true,
  });
  child.on("error", () => {});
  child.unref();
  closeSync(log);
  return child;
}
