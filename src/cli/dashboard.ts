import { spawn } from "node:child_process";
import { once } from "node:events";
import { problem } from "../schema/problem.ts";
import { readArgs } from "./read-args.ts";

const IMAGE = "mcr.microsoft.com/dotnet/aspire-dashboard:latest";
const NAME = "keyhole-dashboard";
/** Ports inside the container: the pages, and OTLP over HTTP. */
const PAGES = 18_888;
const OTLP = 18_890;

const USAGE = `Usage: keyhole dashboard [options]

Starts the Aspire dashboard in Docker, which shows traces and metrics of Keyhole, until you press Ctrl-C. It listens on
this machine only, keeps everything in memory, and prints the link to log in.

  --port NUMBER        port of its pages (default: ${PAGES})
  --otlp-port NUMBER   port that Keyhole sends to (default: 4318)
  -h, --help

Telemetry is off by default: set KEYHOLE_TELEMETRY=1 for the processes that it shall show.`;

export async function run(args: readonly string[]): Promise<void> {
  const { values } = readArgs("dashboard", args, {
    port: { type: "string", default: String(PAGES) },
    "otlp-port": { type: "string", default: "4318" },
  });
  if (values.help) return console.log(USAGE);
  const [pages, otlp] = [toPort("--port", values.port), toPort("--otlp-port", values["otlp-port"])];
  await checkDocker();
  const endpoint = otlp === 4318 ? "" : ` KEYHOLE_TELEMETRY_ENDPOINT=http://localhost:${otlp}`;
  console.error(`Starting the Aspire dashboard at http://localhost:${pages}; Ctrl-C stops it.
In another terminal: KEYHOLE_TELEMETRY=1${endpoint} keyhole chat`);
  const ports = [`127.0.0.1:${pages}:${PAGES}`, `127.0.0.1:${otlp}:${OTLP}`];
  const flags = ["run", "--rm", "--name", NAME, ...ports.flatMap((port) => ["-p", port]), IMAGE];
  const child = spawn("docker", flags, { stdio: "inherit" });
  // The terminal sends the interrupt to Docker too, which then stops the container.
  process.on("SIGINT", () => {});
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  const [code] = (await once(child, "exit")) as [number | null];
  process.exitCode = code ?? 0;
}

/** @throws DOCKER_UNAVAILABLE with the reason. */
async function checkDocker(): Promise<void> {
  const child = spawn("docker", ["version", "--format", "{{.Server.Version}}"], { stdio: "ignore" });
  const code = await once(child, "exit").then(
    ([code]: (number | null)[]) => code,
    () => undefined,
  );
  if (code === 0) return;
  throw problem("DOCKER_UNAVAILABLE", {
    reason: code === undefined ? "the program docker was not found" : "its service does not answer",
  });
}

/** @throws INVALID_INPUT */
function toPort(option: string, text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port >= 1 && port <= 65_535) return port;
  throw problem("INVALID_INPUT", { operation: "dashboard", reason: `${option} is no port` });
}
