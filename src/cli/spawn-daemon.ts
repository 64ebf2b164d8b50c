import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { homedir } from "node:os";
import { logFlags, type Place } from "../daemon/place.ts";
import { MARKER } from "../util/process-marker.ts";

const MAX_LOG_BYTES = 1024 * 1024;
/** After a burst V8 keeps much memory for young objects. A daemon runs for long, so it is given little. */
const YOUNG_OBJECTS = "--max-semi-space-size=4";

/** Starts a daemon that outlives this process. Its output goes to a log beside its socket. */
export function spawnDaemon(place: Place): ChildProcess {
  const log = openSync(place.log, logFlags(place, MAX_LOG_BYTES), 0o600);
  // A gateway that runs this client as its server must not end the daemon of everybody with it.
  const { [MARKER]: _, ...env } = process.env;
  const args = [YOUNG_OBJECTS, ...process.execArgv, process.argv[1]!, "daemon", "run"];
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
