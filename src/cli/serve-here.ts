import { resolve } from "node:path";
import { createGateway } from "../gateway.ts";
import type { Gateway } from "../gateway-api.ts";
import { createMcpServer, type McpServer } from "../mcp/mcp-server.ts";
import { problem } from "../schema/problem.ts";
import { loadTokenCounter } from "../util/tokens.ts";
import { chooseSurface } from "./choose-surface.ts";
import { closeAudit, openAudit } from "./open-audit.ts";
import { isEmpty, type OpenedConfig, openConfig } from "./open-config.ts";
import type { HttpArgs } from "./open-http.ts";
import { openIndex } from "./open-index.ts";
import { openLearning } from "./open-learning.ts";
import { openLog } from "./open-log.ts";
import { openTelemetry } from "./open-telemetry.ts";
import { cacheFolder, recipesFolder } from "./user-folders.ts";

export interface ServeOptions {
  readonly config: string | undefined;
  readonly profile: string | undefined;
  /** Default: that of the profile. */
  readonly surface: string | undefined;
  readonly shortcuts: readonly string[];
  readonly learnedShortcuts: number;
  readonly trusted: boolean;
  readonly allowWrite: boolean;
  /** Serves HTTP instead of stdio. */
  readonly http?: HttpArgs;
}

const WARM_UP_MS = 1_000;

/** Serves in this process until the client leaves or a signal arrives. A second signal exits at once. */
export async function serveHere({
  config: path,
  profile: chosen,
  surface,
  shortcuts,
  learnedShortcuts,
  trusted,
  allowWrite,
  http,
}: ServeOptions): Promise<void> {
  const opening = openConfig({ config: path, profile: chosen, trust: trusted });
  const loading = opening.then(({ loaded }) => loaded);
  void openLog(loading);
  const opened = await opening;
  // A client starts this before its person has added a server, and servers that come later are served too.
  if (isEmpty(opened)) console.error(`${problem("NO_SERVERS").message} ${problem("NO_SERVERS").next}`);
  const { profile } = opened;
  const audit = openAudit(opened.loaded.settings.audit);
  const { principal, ...config } = opened.options;
  const owner = principal ?? { id: "local", scopes: [], allowWrite: false };
  const gateway = createGateway({
    cacheDirectory: cacheFolder(),
    index: openIndex(resolve(path ?? ""), chosen),
    // Over HTTP several people may share a gateway: a recipe that one of them keeps is no tool of the others.
    ...(!http && { recipes: recipesFolder() }),
    ...(audit && { audit }),
    learning: openLearning(opened.loaded.settings.learning),
    ...config,
    principal: { ...owner, allowWrite: owner.allowWrite || allowWrite || profile.allowWrite === true },
  });
  if (gateway.pins.damage) console.error(gateway.pins.damage);
  const server = createMcpServer(gateway, {
    surface: chooseSurface(surface, profile),
    shortcuts,
    learnedShortcuts,
  });
  const telemetry = openTelemetry(loading);
  const face = http ? await openHttpFace(gateway, server, http, opened) : server.connect();
  const stopWatching = opened.watch(gateway.sources.set);
  if (process.stderr.isTTY) void tell(gateway, opened, "url" in face ? String(face.url) : undefined);

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
  if (!http) process.stdin.once("close", () => void stop());
}

/** Clients read the protocol; only a person in a terminal gets this. */
async function tell(gateway: Gateway, { servers }: OpenedConfig, url: string | undefined): Promise<void> {
  const [{ servingLines }, { waits }] = await Promise.all([
    import("./serving-lines.ts"),
    import("../access/pins.ts"),
  ]);
  await gateway.ready();
  const states = servers.map(({ id, diagnostics }) => {
    const { label, entries, status } = diagnostics();
    const waiting = gateway.pins.list().filter((pin) => `mcp:${pin.source}` === id && waits(pin)).length;
    return { label, entries, status, waiting };
  });
  console.error(servingLines(states, url).join("\n"));
}

async function openHttpFace(gateway: Gateway, server: McpServer, args: HttpArgs, opened: OpenedConfig) {
  const { openHttp } = await import("./open-http.ts");
  return openHttp(gateway, server, args, opened);
}
