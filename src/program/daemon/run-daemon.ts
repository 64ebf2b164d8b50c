import { statSync } from "node:fs";
import { homedir } from "node:os";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { customProblem } from "../../base/problems/problem.ts";
import { countOf } from "../../base/util/count-of.ts";
import { lazy } from "../../base/util/lazy.ts";
import { PROGRAM_VERSION } from "../../base/util/program-version.ts";
import { toAge } from "../../core/answers/to-age.ts";
import { daemonPaths, readAddress } from "./daemon-paths.ts";
import type { DaemonConsole, DaemonStatus } from "./handshake.ts";
import { greet } from "./reach-daemon.ts";

const IDLE_SECONDS = 600;

/** Asks the daemon of this person for its state, or to end when its calls are done. Undefined if none runs. */
export async function requestDaemon(want: "status" | "stop"): Promise<DaemonStatus | undefined> {
  const address = readAddress(daemonPaths());
  const met = address && (await greet(address, { version: PROGRAM_VERSION, want }));
  met?.socket.destroy();
  return met?.welcome.ok && "status" in met.welcome ? met.welcome.status : undefined;
}

/**
 * Links that open the consoles of the daemon's configs, at this address of the machine. Undefined if none runs.
 *
 * @throws ADDRESS_UNAVAILABLE
 */
export async function requestConsoles(host?: string): Promise<readonly DaemonConsole[] | undefined> {
  const address = readAddress(daemonPaths());
  const request = { version: PROGRAM_VERSION, want: "console", ...(host && { host }) } as const;
  const met = address && (await greet(address, request));
  met?.socket.destroy();
  if (met && "problem" in met.welcome) throw customProblem(...met.welcome.problem);
  return met?.welcome.ok && "consoles" in met.welcome ? met.welcome.consoles : undefined;
}

/** The daemon in a line for a person. */
export function daemonLine({ pid, version, clients, servers, memoryMb, upSeconds }: DaemonStatus): string {
  const age = toAge(upSeconds * 1_000);
  const serves = `${countOf(clients, "client")}, ${countOf(servers, "server")}`;
  return `Keyhole ${version}, process ${pid}, up ${age}, ${memoryMb} MB: ${serves}`;
}

/** Runs the daemon in this process, as `keyhole serve` does in the background. */
export async function runDaemon(): Promise<void> {
  const [{ startDaemon }, { DaemonConfigs }, { openLog, openTelemetry, tellIsolation }, { loadSettings }] =
    await Promise.all([
      import("./daemon.ts"),
      import("./daemon-configs.ts"),
      import("../open/open-telemetry.ts"),
      import("../open/load-settings.ts"),
    ]);
  // The folder that a daemon was started in must not matter.
  process.chdir(homedir());
  const { settings, problems } = await loadSettings();
  for (const { message, next } of problems) console.error(`${message} ${next}`);
  openLog(settings);
  void tellIsolation();
  const idleMs = readIdle() * 1_000;
  const paths = daemonPaths();
  const configs = new DaemonConfigs({ idleMs, stored: paths.stored });
  const isReplaced = watchProgram();
  const begin = createIdleMemory();
  const daemon = await startDaemon({ paths, version: PROGRAM_VERSION, idleMs, isReplaced, configs, begin });
  const telemetry = openTelemetry(settings);
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => daemon.stop());
  await daemon.ended;
  await configs.close();
  await (await telemetry)?.close();
  process.exit(0);
}

/** Tells whether an upgrade has replaced the program's file. A file that is still being written does not count. */
function watchProgram(path = process.argv[1]!): () => boolean {
  const look = () => {
    const facts = statSync(path, { throwIfNoEntry: false });
    return facts && `${facts.ino} ${facts.size} ${facts.mtimeMs}`;
  };
  const first = look();
  let last = first;
  return () => {
    const now = look();
    const isSettled = now !== undefined && now === last;
    last = now;
    return isSettled && now !== first;
  };
}

function readIdle(): number {
  const seconds = Number(process.env.KEYHOLE_DAEMON_IDLE);
  return seconds > 0 && seconds < 1_000_000 ? seconds : IDLE_SECONDS;
}

/** Models take longer between two calls. */
const QUIET_MS = 200;
/** A heap that has grown by less is not worth a pause. */
const GROWTH = 1.1;
/** The pause grows with the heap: that of a larger one would be felt by the next call. */
const MOST_BYTES = 256 * 1024 * 1024;

/**
 * Gives memory back while no request runs. V8 collects garbage only when a call needs room, so an idle process would
 * keep that of its start and of its last calls: 20 MB of "4 servers, 1 session" of `npm run bench -- sessions`.
 * Call it when a request begins; it returns what to call when the request has ended.
 */
function createIdleMemory(): () => () => void {
  let running = 0;
  let kept = 0;
  let quiet: NodeJS.Timeout | undefined;

  function giveBack(): void {
    const { heapUsed } = process.memoryUsage();
    if (heapUsed < kept * GROWTH || heapUsed > MOST_BYTES) return;
    collector()({ type: "major", execution: "sync", flavor: "last-resort" });
    kept = process.memoryUsage().heapUsed;
  }

  return () => {
    running += 1;
    clearTimeout(quiet);
    return () => {
      running -= 1;
      if (running === 0) quiet = setTimeout(giveBack, QUIET_MS).unref();
    };
  };
}

/** The flag is set back, because V8 does not use code that was compiled under other flags. */
const collector = lazy((): NodeJS.GCFunction => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc");
  setFlagsFromString("--no-expose-gc");
  return collect;
});
