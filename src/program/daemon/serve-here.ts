import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { problem } from "../../base/problems/problem.ts";
import { toVisibleLine } from "../../base/safety/visible-text.ts";
import { loadTokenCounter } from "../../base/tokens/tokens.ts";
import { countOf } from "../../base/util/count-of.ts";
import { waits } from "../../core/access/pins.ts";
import type { EntryStatus } from "../../core/nouns/entry.ts";
import { createMcpServer } from "../../faces/mcp/mcp-server.ts";
import type { Gateway } from "../../gateway/gateway-api.ts";
import { createSharedServers } from "../../sources/mcp/shared-servers.ts";
import { isEmpty, type OpenedConfig, openConfig } from "../open/open-config.ts";
import { chooseSurface, openGateway } from "../open/open-gateway.ts";
import type { OpenedHttp } from "../open/open-http.ts";
import { openProfiles } from "../open/open-profiles.ts";
import { closeStates } from "../open/open-state.ts";
import { openLog, openTelemetry, tellIsolation } from "../open/open-telemetry.ts";
import { tellDamage } from "../open/person-grants.ts";
import type { ConfigOptions } from "../open/read-servers.ts";
import { suggestCommand } from "../open/suggest-command.ts";
import { defineCommand } from "../terminal/define-command.ts";
import { createSafeConsole } from "../terminal/safe-console.ts";
import { daemonLine, requestDaemon, runDaemon } from "./run-daemon.ts";
import { SERVE_OPTIONS, type ServeInput } from "./serve-options.ts";

const WARM_UP_MS = 1_000;
/** How long a replica answers after it has said that it is not ready, so that balancers notice. */
const NOTICE_MS = 3_000;
/** Servers that take longer to start are not waited for before the address is told. */
const START_MS = 3_000;

export const serve = defineCommand({
  name: "serve",
  page: "mcp.md",
  options: SERVE_OPTIONS,
  notes: `Over stdio, JSON configs are served by one daemon of yours, which starts with the first client and ends some
    minutes after the last . keyhole servers shows
    it. KEYHOLE_NO_DAEMON=1 stands for --no-daemon, KEYHOLE_DAEMON_IDLE is the seconds that the daemon, and servers that
    nobody uses, stay (default: 600).

    HTTP needs a bearer token. KEYHOLE_TOKEN, or a generated one that is shown once, is your own; keyhole agents add
    makes one for each agent.`,
  run: async (input) => {
    if (!input.stop) return input.daemon ? runDaemon() : serveHere(input);
    const status = await requestDaemon("stop");
    console.log(status ? `Stopping: ${daemonLine(status)}.` : "No daemon runs.");
  },
});

/**
 * Serves in this process, until the client leaves or a signal arrives. A second signal exits at once. The
 * daemon serves most clients over stdio, before this is loaded.
 */
async function serveHere(input: ServeInput): Promise<void> {
  const { http, shortcut: shortcuts } = input;
  // stdout carries the protocol only; tools and config may print anything.
  globalThis.console = createSafeConsole(process.stderr);
  // Over HTTP, others call with the environment of the person who serves.
  const given: ConfigOptions = {
    ...input,
    ...(http && { servers: { inherits: "few", shared: createSharedServers() } }),
  };
  const opened = await openConfig(given);
  const { profile, settings, loaded } = opened;
  openLog(settings);
  if (opened.servers.length > 0) void tellIsolation();
  // A client starts this before its person has added a server, and servers that come later are served too.
  if (isEmpty(opened)) console.error(`${problem("NO_SERVERS").message} ${problem("NO_SERVERS").next}`);
  for (const { message, next } of loaded.problems) console.error(`${message} ${next}`);
  const surface = chooseSurface(input.surface, profile);
  const { gateway, close } = openGateway({ ...opened, allowWrite: input.allowWrite, isForMany: http });
  tellDamage(gateway.pins.damage);
  const { instructions } = settings;
  const server = createMcpServer(gateway, { surface, shortcuts, ...(instructions && { instructions }) });
  const telemetry = openTelemetry(settings);
  const profiles = openProfiles(opened, { given, allowWrite: input.allowWrite, own: { gateway, server } });
  const face: Pick<OpenedHttp, "close"> & Partial<OpenedHttp> = http
    ? await (await import("../open/open-http.ts")).openHttp(gateway, server, input, { ...opened, profiles })
    : server.connect();
  const stopWatching = opened.watch(gateway.sources.set);
  void tell(gateway, opened, face.address);

  // The first call of a tool needs it, the first list of tools does not.
  setTimeout(() => void loadTokenCounter().catch(() => {}), WARM_UP_MS).unref();

  let closing = false;
  async function stop(signal?: "SIGTERM"): Promise<void> {
    if (closing) process.exit(1);
    closing = true;
    stopWatching();
    if (signal && opened.state) {
      face.drain?.();
      await sleep(NOTICE_MS);
    }
    await face.close();
    await profiles.close();
    await server.close();
    await close();
    await closeStates();
    await (await telemetry)?.close();
    process.exit(0);
  }
  process.on("SIGINT", () => void stop());
  process.on("SIGTERM", () => void stop("SIGTERM"));
  if (!http) process.stdin.once("close", () => void stop());
}

/** Tells a person in a terminal what is served, and at the end of the start where clients and the person go. */
async function tell(
  gateway: Gateway,
  { servers, config }: OpenedConfig,
  address: readonly string[] | undefined,
): Promise<void> {
  if (!process.stderr.isTTY && !address) return;
  await Promise.race([gateway.ready().catch(() => {}), ...(address ? [sleep(START_MS)] : [])]);
  // The log writes its lines of the start first.
  await nextTurn();
  if (process.stderr.isTTY) tellServers(gateway, { servers, config }, address !== undefined);
  if (address) console.error(["", ...address].join("\n"));
}

function tellServers(
  gateway: Gateway,
  { servers, config }: Pick<OpenedConfig, "servers" | "config">,
  isHttp: boolean,
): void {
  const states = servers.map(({ diagnostics }) => {
    const { label, entries, status } = diagnostics();
    const waiting = gateway.pins.list().filter((pin) => pin.source === label && waits(pin)).length;
    return { label, entries, status, waiting };
  });
  console.error(servingLines(states, isHttp, config).join("\n"));
}

export interface ServingState {
  readonly label: string;
  readonly entries: number;
  readonly status: EntryStatus | undefined;
  /** Definitions that wait for an approval. */
  readonly waiting: number;
}

/** Tells a person in a terminal what is served: the servers that are up, failed and wait, and how clients come. */
export function servingLines(servers: readonly ServingState[], isHttp: boolean, config?: string): string[] {
  const up = servers.filter(({ status }) => status === undefined);
  const others = servers.filter(({ status }) => status !== undefined);
  return [
    ...(servers.length > 0 ? [`${up.length} of ${countOf(servers.length, "server")} up:`] : []),
    ...up.map(({ label, entries, waiting }) =>
      toVisibleLine(
        `  ✓ ${label}  ${countOf(entries, "entry", "entries")}${waiting > 0 ? `, ${waiting} waiting for approval: ${suggestCommand(["approve", label], config)}` : ""}`,
      ),
    ),
    ...others.map(({ label, status }) => toVisibleLine(`  ${failed(label, status!, config)}`)),
    !isHttp
      ? "This is an MCP server on stdio, which clients start by themselves: keyhole connect CLIENT writes the entry, and --http serves an address instead."
      : "Clients send the header Authorization: Bearer TOKEN. Stop with Ctrl-C.",
  ];
}

function failed(label: string, { state, reason }: EntryStatus, config: string | undefined): string {
  const suggest = (...words: string[]) => suggestCommand(words, config);
  if (state === "quarantined")
    return `! ${label}  waits for your approval to start: ${suggest("approve", label)}`;
  if (state === "needs_login") return `! ${label}  ${reason}: ${suggest("login", label)}`;
  if (state === "starting") return `… ${label}  is starting`;
  return `✗ ${label}  ${reason}: ${suggest("doctor")} says how to fix it`;
}
