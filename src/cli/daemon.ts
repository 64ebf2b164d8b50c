import { homedir } from "node:os";
import type { DaemonStatus } from "../daemon/wire.ts";
import { problem } from "../schema/problem.ts";
import { PROGRAM_VERSION } from "../util/program-version.ts";
import { daemonPlace } from "./daemon-place.ts";
import { FLAG, readWordsAndArgs } from "./read-args.ts";

const USAGE = `Usage: keyhole daemon COMMAND [options]

  status           show the daemon that serves your clients
  stop             end it when its calls are done; the next client starts it again
  run              run it here, as keyhole serve does in the background

  --json           for status and stop
  -h, --help

KEYHOLE_DAEMON_IDLE: seconds that the daemon, and servers that nobody uses, stay (default: 600).`;

const IDLE_SECONDS = 600;

/** Shows, stops or runs the daemon that serves the clients of this person. */
export async function run(args: readonly string[]): Promise<void> {
  const { values, positionals } = readWordsAndArgs("daemon", args, { json: FLAG });
  const [command] = positionals;
  if (values.help || command === undefined) return console.log(USAGE);
  if (command === "run") return runDaemon();
  if (command !== "status" && command !== "stop")
    throw problem("INVALID_INPUT", { operation: "daemon", reason: `${command} is neither status nor stop` });
  const status = await request(command);
  if (values.json) return console.log(JSON.stringify(status ?? null));
  console.log(status ? `${command === "stop" ? "Stopping. " : ""}${toText(status)}` : "No daemon runs.");
}

/** The daemon of this person, if one runs. */
export function daemonStatus(): Promise<DaemonStatus | undefined> {
  return request("status");
}

async function request(want: "status" | "stop"): Promise<DaemonStatus | undefined> {
  const [{ greet }, { readCard }] = await Promise.all([
    import("../daemon/reach-daemon.ts"),
    import("../daemon/place.ts"),
  ]);
  const card = readCard(daemonPlace());
  const met = card && (await greet(card, { version: PROGRAM_VERSION, want }));
  met?.socket.destroy();
  return met?.welcome.ok && "status" in met.welcome ? met.welcome.status : undefined;
}

function toText({ pid, version, clients, configs, servers, memoryMb, upSeconds }: DaemonStatus): string {
  const count = (number: number, word: string) => `${number} ${word}${number === 1 ? "" : "s"}`;
  const serves = `${count(clients, "client")}, ${count(configs, "config")}, ${count(servers, "server")}`;
  return `Keyhole ${version}, process ${pid}, up ${count(upSeconds, "second")}, ${memoryMb} MB: ${serves}.`;
}

async function runDaemon(): Promise<void> {
  const [{ startDaemon }, { createDaemonConfigs }, { openLog }, { openTelemetry }, { loadSettings }] =
    await Promise.all([
      import("../daemon/daemon.ts"),
      import("./daemon-configs.ts"),
      import("./open-log.ts"),
      import("./open-telemetry.ts"),
      import("../config/load-settings.ts"),
    ]);
  // The folder that it happens to start in decides nothing.
  process.chdir(homedir());
  const loading = loadSettings();
  void openLog(loading);
  const idleMs = readIdle() * 1_000;
  const configs = createDaemonConfigs({ idleMs });
  const daemon = await startDaemon({ place: daemonPlace(), version: PROGRAM_VERSION, idleMs, ...configs });
  const telemetry = openTelemetry(loading);
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => daemon.stop());
  await daemon.ended;
  await configs.close();
  await (await telemetry)?.close();
  process.exit(0);
}

function readIdle(): number {
  const seconds = Number(process.env.KEYHOLE_DAEMON_IDLE);
  return seconds > 0 && seconds < 1_000_000 ? seconds : IDLE_SECONDS;
}
