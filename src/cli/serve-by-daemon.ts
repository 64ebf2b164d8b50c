import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { logFlags } from "../daemon/place.ts";
import { reachDaemon } from "../daemon/reach-daemon.ts";
import { relay } from "../daemon/relay.ts";
import type { ServeRequest } from "../daemon/wire.ts";
import { MARKER } from "../util/process-marker.ts";
import { PROGRAM_VERSION } from "../util/program-version.ts";
import { daemonPlace } from "./daemon-place.ts";

const MAX_LOG_BYTES = 1024 * 1024;
/**
 * Serves a JSON config over stdio through the daemon of this person, until the client leaves.
 *
 * @throws DAEMON_FAILED before anything was served, if no daemon can be used
 */
export async function serveByDaemon(request: Omit<ServeRequest, "cwd" | "env">): Promise<void> {
  const place = daemonPlace();
  const serve = { ...request, config: resolve(request.config), cwd: process.cwd(), env: process.env };
  const version = PROGRAM_VERSION;
  const reach = async () => {
    const { socket, notes } = await reachDaemon({ place, version, serve, start: () => startDaemon(place) });
    for (const note of notes) console.error(note);
    return socket;
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(0));
  const first = await reach();
  let next: ReturnType<typeof reach> | undefined = Promise.resolve(first);
  await relay({
    input: process.stdin,
    output: process.stdout,
    reach: () => {
      const reached = next ?? reach();
      next = undefined;
      return reached;
    },
  }).catch((error: unknown) => {
    // The client has begun a session, so no other process can take it over.
    console.error(error);
    process.exit(1);
  });
  process.exit(0);
}

/** Starts a daemon that outlives this process. Its output goes to a log beside its socket. */
function startDaemon(place: ReturnType<typeof daemonPlace>) {
  const log = openSync(place.log, logFlags(place, MAX_LOG_BYTES), 0o600);
  // A gateway that runs this client as its server must not end the daemon of everybody with it.
  const { [MARKER]: _, ...env } = process.env;
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1]!, "daemon", "run"], {
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
