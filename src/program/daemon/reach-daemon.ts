import { spawn } from "node:child_process";
import { closeSync, lstatSync, openSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { homedir } from "node:os";
import { customProblem, problem } from "../../base/problems/problem.ts";
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
  start(): Promise<StartingDaemon>;
}

/** A daemon that this process has started and that is not its child. */
export interface StartingDaemon {
  hasEnded(): boolean;
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
  let daemon: StartingDaemon | undefined;
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
      if (daemon?.hasEnded()) throw failed(`it ended at its start; its log is ${paths.log}`);
      if (!daemon && takeLock(paths)) daemon = await start();
    }
    throw failed(`it did not answer within ${START_MS / 1_000} seconds; its log is ${paths.log}`);
  } finally {
    if (daemon) rmSync(paths.lock, { force: true });
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

/**
 * The variables that a daemon starts with, if this process has them: the person's folders and session. Others belong
 * to one client, such as `NODE_OPTIONS`, certificates, telemetry and keys, and must not decide about all clients.
 */
const VARIABLES = [
  "HOME LANG LC_ALL LC_CTYPE LOGNAME PATH SHELL TMPDIR TZ USER",
  "XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_RUNTIME_DIR XDG_STATE_HOME DBUS_SESSION_BUS_ADDRESS",
  "APPDATA COMSPEC HOMEDRIVE HOMEPATH LOCALAPPDATA PATHEXT PROGRAMDATA PROGRAMFILES SYSTEMDRIVE SYSTEMROOT",
  "TEMP TMP USERNAME USERPROFILE WINDIR",
  "KEYHOLE_STATE KEYHOLE_DAEMON_IDLE",
].flatMap((names) => names.split(" "));

/**
 * The C library of Linux keeps a heap for each thread, and freed blocks. With these it takes 15 MB less (bar "4 servers,
 * 1 session" of `npm run bench -- sessions`), and calls take as long as without.
 */
const SMALL_HEAP = {
  MALLOC_ARENA_MAX: "1",
  MALLOC_MMAP_THRESHOLD_: "16384",
  MALLOC_TRIM_THRESHOLD_: "16384",
  MALLOC_TOP_PAD_: "0",
};

/**
 * Starts a daemon that outlives this process. Some clients kill everything below them, so the daemon is nobody's
 * child: a shell starts it in a session of its own and ends. Its output goes to a log beside its socket.
 */
export function spawnDaemon(paths: DaemonPaths): StartingDaemon {
  const size = lstatSync(paths.log, { throwIfNoEntry: false })?.size ?? 0;
  // A log that has become large starts anew.
  const log = openSync(paths.log, size > MAX_LOG_BYTES ? "w" : "a", 0o600);
  const isVariable = (name: string) => VARIABLES.includes(name.toUpperCase());
  const program = [process.execPath, process.argv[1]!, "serve", "--daemon"] as const;
  const [command, ...args] =
    process.platform === "win32" ? program : (["/bin/sh", "-c", '"$@" &', "sh", ...program] as const);
  const child = spawn(command, args, {
    detached: true,
    // Only the daemon holds the other end of the last pipe, until it ends.
    stdio: ["ignore", log, log, "pipe"],
    cwd: homedir(),
    env: {
      ...SMALL_HEAP,
      ...Object.fromEntries(Object.entries(process.env).filter(([name]) => isVariable(name))),
    },
    windowsHide: true,
  });
  closeSync(log);
  const pipe = child.stdio[3] as Socket;
  let hasEnded = false;
  const end = () => {
    hasEnded = true;
  };
  child.on("error", end);
  child.unref();
  pipe.on("error", () => {}).on("close", end);
  pipe.resume().unref();
  return { hasEnded: () => hasEnded };
}
