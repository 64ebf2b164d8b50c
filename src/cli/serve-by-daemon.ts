import { resolve } from "node:path";
import { reachDaemon } from "../daemon/reach-daemon.ts";
import { relay } from "../daemon/relay.ts";
import type { ServeRequest } from "../daemon/wire.ts";
import { PROGRAM_VERSION } from "../util/program-version.ts";
import { daemonPlace } from "./daemon-place.ts";

/**
 * Serves a JSON config over stdio through the daemon of this person, until the client leaves.
 *
 * @throws DAEMON_FAILED before anything was served, if no daemon can be used
 */
export async function serveByDaemon(request: Omit<ServeRequest, "cwd" | "env">): Promise<void> {
  const place = daemonPlace();
  const serve = { ...request, config: resolve(request.config), cwd: process.cwd(), env: process.env };
  const version = PROGRAM_VERSION;
  const start = async () => (await import("./spawn-daemon.ts")).spawnDaemon(place);
  const reach = async () => {
    const { socket, notes } = await reachDaemon({ place, version, serve, start });
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
