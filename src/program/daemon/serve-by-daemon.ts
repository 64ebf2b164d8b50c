import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { isProblem } from "../../base/problems/problem.ts";
import { PROGRAM_VERSION } from "../../base/util/program-version.ts";
import { defaultConfig, isJsonConfig, settingsPath } from "../open/config-files.ts";
import { daemonPaths } from "./daemon-paths.ts";
import type { ServeRequest } from "./handshake.ts";
import { reachDaemon, spawnDaemon } from "./reach-daemon.ts";
import { relay } from "./relay.ts";
import { readServeFlags } from "./serve-options.ts";

/** A request without the parts that only the process itself knows. */
type RelayRequest = Omit<ServeRequest, "cwd" | "env" | "client">;

/**
 * Serves a JSON config over stdio through the daemon of this person, until the client leaves. Returns false if this
 * process has to serve by itself. Every client has such a process, so it loads nothing that only the gateway needs.
 */
export async function serveByDaemon(args: readonly string[]): Promise<boolean> {
  const request = readRelayRequest(args);
  if (!request) return false;
  process.once("uncaughtException", async (error) => {
    await makeConsoleSafe();
    throw error;
  });
  try {
    await relayTo(request);
  } catch (error) {
    if (!isProblem(error) || error.code !== "DAEMON_FAILED") throw error;
    await printError(`${error.message} This client is served by a process of its own.`);
    return false;
  }
  return process.exit(0);
}

/**
 * Reads the arguments of a `keyhole serve` that the daemon serves. Undefined for any other, also for one with a
 * mistake: the whole program knows what to say.
 */
export function readRelayRequest(args: readonly string[]): RelayRequest | undefined {
  // A person at the terminal wants to see what is up, which only a process of its own can tell.
  if (process.stdin.isTTY || process.env.KEYHOLE_NO_DAEMON) return undefined;
  const input = readServeFlags(args);
  if (
    !input ||
    input.stop ||
    input.daemon ||
    input.noDaemon ||
    input.http ||
    input.library !== undefined ||
    input.host ||
    input.port ||
    input.allowHost.length > 0
  )
    return undefined;
  const config = configOfDaemon(input.config);
  if (config === undefined) return undefined;
  const { profile, surface, shortcut, trust, allowWrite } = input;
  return { config, profile, surface, shortcut, trust, allowWrite };
}

/**
 * The JSON config that the daemon serves: the named one, or the person's own. Undefined for a config that is code and
 * where a folder adds code or servers: those have an environment and a folder of their own, and need a process of
 * their own.
 */
export function configOfDaemon(named: string | undefined): string | undefined {
  if (named !== undefined) return isJsonConfig(named) ? named : undefined;
  const own = settingsPath(homedir());
  const folder = process.cwd();
  const project = settingsPath(folder);
  const isPlain = defaultConfig(folder) === undefined && (resolve(project) === own || !existsSync(project));
  return isPlain && existsSync(own) ? own : undefined;
}

/** @throws DAEMON_FAILED before anything was served, if no daemon can be used */
async function relayTo(request: RelayRequest): Promise<void> {
  const paths = daemonPaths();
  const config = resolve(request.config);
  const serve = {
    ...request,
    config,
    cwd: process.cwd(),
    env: process.env,
    client: `${process.pid} ${Date.now()}`,
  };
  const start = async () => spawnDaemon(paths);
  const reach = async () => {
    const { socket, notes } = await reachDaemon({ paths, version: PROGRAM_VERSION, serve, start });
    for (const note of notes) await printError(note);
    return socket;
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(0));
  const reached = [await reach()];
  await relay({
    input: process.stdin,
    output: process.stdout,
    reach: async () => reached.pop() ?? reach(),
  }).catch(async (error: unknown) => {
    // The client has begun a session, so no other process can take it over.
    await printError(error);
    process.exit(1);
  });
}

async function printError(text: unknown): Promise<void> {
  await makeConsoleSafe();
  console.error(text);
}

async function makeConsoleSafe(): Promise<void> {
  const { installSafeConsole } = await import("../terminal/safe-console.ts");
  installSafeConsole();
}
