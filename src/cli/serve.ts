import { createGateway } from "../gateway.ts";
import { createMcpServer, type McpServer } from "../mcp/mcp-server.ts";
import { problem } from "../schema/problem.ts";
import { SURFACES, type Surface } from "../surfaces/surface.ts";
import { loadTokenCounter } from "../util/tokens.ts";
import { isJsonConfig } from "./load-module.ts";
import { closeAudit, openAudit } from "./open-audit.ts";
import { type OpenedConfig, openFilledConfig } from "./open-config.ts";
import { openLog } from "./open-log.ts";
import { openTelemetry } from "./open-telemetry.ts";
import { readArgs } from "./read-args.ts";
import { createSafeConsole } from "./safe-console.ts";
import { cacheFolder } from "./user-folders.ts";

const USAGE = `Usage: keyhole serve [options]

  --config FILE    a JSON config: settings and servers, also as other MCP clients write them; or a module that
                   exports options of createGateway. Default: keyhole.config.ts or .js in this folder, and the
                   servers of your settings. Changes of servers are applied while serving
  --profile NAME   only the servers of this profile of the config
  --trust          start the servers that a JSON config names now, and accept their definitions without approval
  --surface NAME   ${SURFACES.join(", ")} (default: lanes)
  --allow-write    let callers run tools that write
  --http           serve Streamable HTTP instead of stdio
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
  const json = isJsonConfig(values.config) ? values.config : undefined;
  void openLog(json);
  const opened = await openFilledConfig({
    config: values.config,
    profile: values.profile,
    trust: values.trust,
  });
  const { profile, loaded } = opened;
  const surface = (values.surface ?? profile.surface ?? "lanes") as Surface;
  if (!SURFACES.includes(surface)) {
    throw problem("INVALID_INPUT", {
      operation: "serve",
      reason: `--surface must be one of ${SURFACES.join(", ")}`,
    });
  }
  const audit = openAudit(loaded.settings.audit);
  const { principal, ...config } = opened.options;
  const owner = principal ?? { id: "local", scopes: [], allowWrite: false };
  const gateway = createGateway({
    cacheDirectory: cacheFolder(),
    ...(audit && { audit }),
    ...config,
    principal: {
      ...owner,
      allowWrite: owner.allowWrite || values["allow-write"] || profile.allowWrite === true,
    },
  });
  if (gateway.pins.damage) console.error(gateway.pins.damage);
  const server = createMcpServer(gateway, { surface });
  const telemetry = openTelemetry(json);
  const face = values.http ? await openHttpFace(server, values, opened) : openStdio(server);
  const stopWatching = opened.watch(gateway);

  // The first call of a tool needs it, the first list of tools does not.
  setTimeout(() => void loadTokenCounter().catch(() => {}), WARM_UP_MS).unref();

  let closing = false;
  async function stop(): Promise<void> {
    if (closing) process.exit(1);
    closing = true;
    stopWatching();
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
      profile: { type: "string" },
      surface: { type: "string" },
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

async function openHttpFace(server: McpServer, values: ReturnType<typeof readOptions>, opened: OpenedConfig) {
  const { openHttp } = await import("./open-http.ts");
  return openHttp(server, { ...values, allowHosts: values["allow-host"] }, opened);
}
