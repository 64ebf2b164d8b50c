import { createGateway } from "../gateway.ts";
import { createMcpServer, type McpServer } from "../mcp/mcp-server.ts";
import type { Surface } from "../surfaces/surface-names.ts";
import { loadTokenCounter } from "../util/tokens.ts";
import { type LoadedConfig, loadConfig } from "./load-config.ts";
import { closeAudit, openConfiguredAudit } from "./open-audit.ts";
import type { HttpArgs } from "./open-http.ts";
import { openLog } from "./open-log.ts";
import { openTelemetry } from "./open-telemetry.ts";
import { cacheFolder, recipesFolder } from "./user-folders.ts";

export interface ServeOptions {
  readonly config: string | undefined;
  readonly surface: Surface;
  readonly trusted: boolean;
  readonly allowWrite: boolean;
  /** Serves HTTP instead of stdio. */
  readonly http?: HttpArgs;
}

const WARM_UP_MS = 1_000;

/** Serves in this process until the client leaves or a signal arrives. A second signal exits at once. */
export async function serveHere({
  config: path,
  surface,
  trusted,
  allowWrite,
  http,
}: ServeOptions): Promise<void> {
  void openLog();
  const [loaded, audit] = await Promise.all([loadConfig(path, { trusted }), openConfiguredAudit()]);
  const { principal, ...config } = loaded.options;
  const owner = principal ?? { id: "local", scopes: [], allowWrite: false };
  const gateway = createGateway({
    cacheDirectory: cacheFolder(),
    recipes: recipesFolder(),
    ...(audit && { audit }),
    ...config,
    principal: { ...owner, allowWrite: owner.allowWrite || allowWrite },
  });
  if (gateway.pins.damage) console.error(gateway.pins.damage);
  const server = createMcpServer(gateway, { surface });
  const telemetry = openTelemetry();
  const face = http ? await openHttpFace(server, http, loaded) : server.connect();
  const stopWatching = loaded.watch?.(gateway.sources.set);

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
  if (!http) process.stdin.once("close", () => void stop());
}

async function openHttpFace(server: McpServer, args: HttpArgs, loaded: LoadedConfig) {
  const { openHttp } = await import("./open-http.ts");
  return openHttp(server, args, loaded);
}
