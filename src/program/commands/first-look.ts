import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { toVisibleLine } from "../../base/safety/visible-text.ts";
import { countOf } from "../../base/util/count-of.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import { isSwitchedOff, type McpServerConfig } from "../../sources/mcp/config/server-config.ts";
import { fromMcpConfig } from "../../sources/mcp/mcp-source.ts";
import { CLIENTS } from "../clients/clients.ts";
import { type FoundConfig, findConfigs } from "../clients/find-configs.ts";
import type { FoundServer } from "../clients/read-server.ts";
import { costLines, type Measured, measureServers, savingLines } from "../doctor/measure-servers.ts";
import { cacheFolder, thisMachine } from "../open/user-folders.ts";
import { askYesOrNo, hasTerminal } from "../terminal/confirm.ts";
import { defineCommand } from "../terminal/define-command.ts";
import { JSON_OUTPUT } from "../terminal/shared-options.ts";
import { connectClient, programOf, serverLines } from "./connect.ts";

/** `keyhole` without a command: the servers of all clients, their cost, and the way behind Keyhole. */
export const firstLook = defineCommand({
  name: "",
  options: {
    yes: { help: "start the servers to count their tokens" },
    "dry-run": { help: "show what connecting would change" },
    json: JSON_OUTPUT,
  },
  run: async ({ yes, dryRun, json }) => {
    const machine = thisMachine();
    const configs = await findConfigs(CLIENTS, machine);
    const servers = distinct(configs);
    const isAsked = hasTerminal() && !json;
    if (!json) console.log(listLines(configs, machine.home).join("\n"));
    const isMeasured =
      servers.size > 0 &&
      !dryRun &&
      (yes ||
        (isAsked && (await askYesOrNo(`\nStart ${countOf(servers.size, "server")} to count the tokens?`))));
    const measured = isMeasured ? await measure(servers, machine.home) : undefined;
    if (json) return console.log(JSON.stringify(toJson(configs, measured), null, 2));
    if (measured) console.log(["", ...costLines(measured.servers), "", ...savingLines(measured)].join("\n"));
    const open = openClients(configs);
    if (dryRun || (isAsked && !yes)) {
      for (const client of open) {
        console.log("");
        // A broken config of one client leaves the others their offer.
        await connectClient(client, { dryRun }).catch((error: unknown) =>
          console.error(toVisibleLine(reasonOf(error))),
        );
      }
      // Saying no to an offer is no failure.
      process.exitCode = 0;
      return;
    }
    console.log(["", ...nextLines(servers.size, isMeasured, open)].join("\n"));
  },
});

function nextLines(count: number, isMeasured: boolean, open: readonly { readonly name: string }[]): string[] {
  if (count === 0) return ["Add a server: keyhole add NAME -- COMMAND ARGS   All commands: keyhole --help"];
  return [
    ...(isMeasured
      ? []
      : ["Nothing was started. keyhole --yes starts these servers and counts their tokens."]),
    ...open.map(({ name }) => `Move them behind Keyhole: keyhole connect ${name}`),
  ];
}

/** Clients with servers that can move. */
function openClients(configs: readonly FoundConfig[]) {
  const movable = configs.filter(
    ({ place, servers }) => place.scope === "user" && servers.some(({ config }) => config),
  );
  return [...new Set(movable.map(({ client }) => client))];
}

function listLines(configs: readonly FoundConfig[], home: string): string[] {
  const shown = configs.filter(
    ({ servers, problem, isConnected }) => servers.length > 0 || problem || isConnected,
  );
  if (shown.length === 0) return ["No MCP servers found in the configs of known clients."];
  return shown.flatMap(({ client, place, servers, problem, isConnected }) => [
    toVisibleLine(`${client.title}  ${place.path}${isConnected ? "  connected to Keyhole" : ""}`),
    ...(problem === undefined ? [] : [toVisibleLine(`  cannot be read: ${problem}`)]),
    ...servers.flatMap((server) => foundLines(server, home)),
  ]);
}

function foundLines({ name, config, stays, notes }: FoundServer, home: string): string[] {
  if (!config) return [toVisibleLine(`  ${name}  cannot run behind Keyhole: ${stays}`)];
  const title = `${name}${isSwitchedOff(config) ? "  switched off" : ""}`;
  return serverLines(title, { config, notes }, programOf({ name: "server", config }, home));
}

/** The servers that can be started, each once, also if several clients have it. */
function distinct(configs: readonly FoundConfig[]): Map<string, McpServerConfig> {
  const found = new Map<string, McpServerConfig>();
  for (const { client, servers } of configs) {
    for (const { name, config } of servers) {
      if (!config || isSwitchedOff(config)) continue;
      if ([...found.values()].some((other) => isDeepStrictEqual(other, config))) continue;
      found.set(found.has(name) ? `${name} ${client.name} ${found.size}` : name, config);
    }
  }
  return found;
}

/** The person has agreed to start them, and only their listings are read. */
function measure(servers: ReadonlyMap<string, McpServerConfig>, home: string): Promise<Measured> {
  const options = { trusted: true, cwd: home, cacheDirectory: join(cacheFolder(), "listings") };
  return measureServers(fromMcpConfig({ mcpServers: Object.fromEntries(servers) }, options));
}

function toJson(configs: readonly FoundConfig[], measured: Measured | undefined): object {
  return {
    configs: configs.map(({ client, place, servers, problem, isConnected }) => ({
      client: client.name,
      path: place.path,
      scope: place.scope,
      connected: isConnected,
      ...(problem !== undefined && { problem }),
      servers: servers.map(({ name, config, stays, notes }) => ({
        name,
        usable: config !== undefined,
        ...(stays !== undefined && { stays }),
        notes,
      })),
    })),
    ...(measured && { measured }),
  };
}
