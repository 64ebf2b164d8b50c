import { createGateway } from "../gateway.ts";
import type { Gateway } from "../gateway-api.ts";
import { createMcpServer, type McpServer } from "../mcp/mcp-server.ts";
import { problem } from "../schema/problem.ts";
import { SURFACES, type Surface } from "../surfaces/surface.ts";
import { loadTokenCounter } from "../util/tokens.ts";
import { type LoadedConfig, loadConfig } from "./load-config.ts";
import { closeAudit, openConfiguredAudit } from "./open-audit.ts";
import { openLog } from "./open-log.ts";
import { openTelemetry } from "./open-telemetry.ts";
import { readArgs } from "./read-args.ts";
import { createSafeConsole } from "./safe-console.ts";
import { cacheFolder } from "./user-folders.ts";

const USAGE = `Usage: keyhole serve [options]

  --config FILE    a module that exports options of createGateway, at least domains or sources
                   (default: keyhole.config.ts or .js in this folder, or your settings), or the JSON config
                   of an MCP client, whose changes are applied while serving
  --trust          start the servers that a JSON config names now, and accept their definitions without approval
  --surface NAME   ${SURFACES.join(", ")} (default: lanes)
  --allow-write    let callers run tools that write
  --http           serve Streamable HTTP instead of stdio, with the console for your browser
  --host NAME      the address to listen on (default: 127.0.0.1, for this machine only)
  --allow-host NAME  a host name that clients may use, beside those of this machine; as often as needed
  --port NUMBER    default: any free port
  --help

HTTP needs a bearer token. KEYHOLE_TOKEN, or a generated one that is shown once, is your own; keyhole token add
makes one for each agent.`;

const WARM_UP_MS = 1_000;

/** Serves until the client leaves or a signal arrives. A second signal exits at once. */
export async function run(args: readonly string[]): Promise<void> {
  const values = readOptions(args);
  if (values.help) return console.log(USAGE);
  // stdout carries the protocol only; tools and config may print anything.
  globalThis.console = createSafeConsole(process.stderr);
  void openLog();
  const surface = values.surface as Surface;
  if (!SURFACES.includes(surface)) {
    throw problem("INVALID_INPUT", {
      operation: "serve",
      reason: `--surface must be one of ${SURFACES.join(", ")}`,
    });
  }

  const [loaded, audit] = await Promise.all([
    loadConfig(values.config, { trusted: values.trust }),
    openConfiguredAudit(),
  ]);
  const { principal, ...config } = loaded.options;
  const owner = principal ?? { id: "local", scopes: [], allowWrite: false };
  const gateway = createGateway({
    cacheDirectory: cacheFolder(),
    ...(audit && { audit }),
    ...config,
    principal: { ...owner, allowWrite: owner.allowWrite || values["allow-write"] },
  });
  if (gateway.pins.damage) console.error(gateway.pins.damage);
  const server = createMcpServer(gateway, { surface });
  const telemetry = openTelemetry();
  const face = values.http ? await openHttpFace(gateway, server, values, loaded) : openStdio(server);
  const stopWatching = loaded.watch?.(gateway);

  // The first call of a tool needs it, the first list of tools does not.
  setTimeout(() => void loadTokenCounter().catch(() => {}), WARM_UP_MS).unref();

  let closing = false;
  async function stop(): Promise<void> {
    if (closing) process.exit(1);
    closing = true;
    stopWatching?.();
    await face.close();
    await server.close();
    await gateway.close();
    await closeAudit(audit);
    await (await telemetry)?.close();
    process.exit(0);
  }
  process.on("SIGINT", () => void stop());
  process.on("SIGTERM", () => void stop());
  if (!values.http) process.stdin.once("close", () => void stop());
}

function readOptions(args: readonly string[]) {
  return readArgs("serve", {
    args: [...args],
    options: {
      config: { type: "string" },
      surface: { type: "string", default: "lanes" },
      trust: { type: "boolean", default: false },
      "allow-write": { type: "boolean", default: false },
      http: { type: "boolean", default: false },
      host: { type: "string" },
      "allow-host": { type: "string", multiple: true, default: [] },
      port: { type: "string" },
      help: { type: "boolean", default: false },
    },
  }).values;
}

function openStdio(server: McpServer): { close(): Promise<void> } {
  return server.connect();
}

async function openHttpFace(
  gateway: Gateway,
  server: McpServer,
  values: ReturnType<typeof readOptions>,
  loaded: LoadedConfig,
) {
  const { openHttp } = await import("./open-http.ts");
  return openHttp(gateway, server, { ...values, allowHosts: values["allow-host"] }, loaded);
}
