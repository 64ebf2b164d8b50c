import { homedir } from "node:os";
import { countOf } from "../../base/util/count-of.ts";
import { PROGRAM_VERSION } from "../../base/util/program-version.ts";
import { daemonPaths, readAddress } from "../daemon/daemon-paths.ts";
import type { DaemonStatus } from "../daemon/handshake.ts";
import { greet } from "../daemon/reach-daemon.ts";
import { defineCommand } from "../terminal/define-command.ts";
import { JSON_OUTPUT } from "../terminal/shared-options.ts";

const IDLE_SECONDS = 600;

export const daemon = defineCommand({
  name: "daemon",
  page: "daemon.md",
  words: { "": "", status: "", stop: "", run: "" },
  forms: ["status|stop|run"],
  about: `  status   show the daemon that serves your clients
  stop     end it when its calls are done; the next client starts it again
  run      run it here, as keyhole serve does in the background`,
  options: { json: JSON_OUTPUT },
  notes: "KEYHOLE_DAEMON_IDLE: seconds that the daemon, and servers that nobody uses, stay (default: 600).",
  run: async ({ action, json }, { usage }) => {
    if (action === "") return console.log(usage);
    if (action === "run") return runDaemon();
    const status = await request(action === "stop" ? "stop" : "status");
    if (json) return console.log(JSON.stringify(status ?? null));
    console.log(status ? `${action === "stop" ? "Stopping. " : ""}${toText(status)}` : "No daemon runs.");
  },
});

/** The daemon of this person, if one runs. */
export function daemonStatus(): Promise<DaemonStatus | undefined> {
  return request("status");
}

async function request(want: "status" | "stop"): Promise<DaemonStatus | undefined> {
  const address = readAddress(daemonPaths());
  const met = address && (await greet(address, { version: PROGRAM_VERSION, want }));
  met?.socket.destroy();
  return met?.welcome.ok && "status" in met.welcome ? met.welcome.status : undefined;
}

function toText({ pid, version, clients, configs, servers, memoryMb, upSeconds }: DaemonStatus): string {
  const serves = `${countOf(clients, "client")}, ${countOf(configs, "config")}, ${countOf(servers, "server")}`;
  return `Keyhole ${version}, process ${pid}, up ${countOf(upSeconds, "second")}, ${memoryMb} MB: ${serves}.`;
}

async function runDaemon(): Promise<void> {
  const [{ startDaemon }, { createDaemonConfigs }, { openLog, openTelemetry }, { loadSettings }] =
    await Promise.all([
      import("../daemon/daemon.ts"),
      import("../daemon/daemon-configs.ts"),
      import("../open/open-telemetry.ts"),
      import("../open/load-settings.ts"),
    ]);
  // The folder that a daemon was started in must not matter.
  process.chdir(homedir());
  const { settings, problems } = await loadSettings();
  for (const { message, next } of problems) console.error(`${message} ${next}`);
  openLog(settings);
  const idleMs = readIdle() * 1_000;
  const configs = createDaemonConfigs({ idleMs });
  const daemon = await startDaemon({ paths: daemonPaths(), version: PROGRAM_VERSION, idleMs, ...configs });
  const telemetry = openTelemetry(settings);
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
