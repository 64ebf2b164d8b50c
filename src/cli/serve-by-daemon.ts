import { resolve } from "node:path";
import { reachDaemon } from "../daemon/reach-daemon.ts";
import { relay } from "../daemon/relay.ts";
import { isProblem } from "../schema/problem.ts";
import { PROGRAM_VERSION } from "../util/program-version.ts";
import { daemonPlace } from "./daemon-place.ts";
import { type RelayRequest, readRelayRequest } from "./relay-request.ts";

/**
 * Serves a JSON config over stdio through the daemon of this person, until the client leaves. Returns false if this
 * process has to serve by itself. Every client has such a process, so it loads nothing that only others need.
 */
export async function serveByDaemon(args: readonly string[]): Promise<boolean> {
  const request = readRelayRequest(args);
  if (!request) return false;
  process.once("uncaughtException", async (error) => {
    await makeConsoleSafe();
    throw error;
  });
  try {
    await serve(request);
  } catch (error) {
    if (!isProblem(error) || error.code !== "DAEMON_FAILED") throw error;
    await say(`${error.message} This client is served by a process of its own.`);
    return false;
  }
  return process.exit(0);
}

/** @throws DAEMON_FAILED before anything was served, if no daemon can be used */
async function serve(request: RelayRequest): Promise<void> {
  const place = daemonPlace();
  const serve = { ...request, config: resolve(request.config), cwd: process.cwd(), env: process.env };
  const version = PROGRAM_VERSION;
  const start = async () => (await import("./spawn-daemon.ts")).spawnDaemon(place);
  const reach = async () => {
    const { socket, notes } = await reachDaemon({ place, version, serve, start });
    for (const note of notes) await say(note);
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
  }).catch(async (error: unknown) => {
    // The client has begun a session, so no other process can take it over.
    await say(error);
    process.exit(1);
  });
}

async function say(text: unknown): Promise<void> {
  await makeConsoleSafe();
  console.error(text);
}

async function makeConsoleSafe(): Promise<void> {
  const { installSafeConsole } = await import("./safe-console.ts");
  installSafeConsole();
}
