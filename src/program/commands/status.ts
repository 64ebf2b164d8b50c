import { homedir } from "node:os";
import { toVisibleLine } from "../../base/safety/visible-text.ts";
import { countOf } from "../../base/util/count-of.ts";
import { PROGRAM_VERSION } from "../../base/util/program-version.ts";
import { CLIENTS } from "../clients/clients.ts";
import { findConfigs } from "../clients/find-configs.ts";
import { costLines, measureServers, type ServerCost } from "../doctor/measure-servers.ts";
import { savingLines } from "../doctor/savings.ts";
import { openConfig } from "../open/open-config.ts";
import { openConsents, openTokens } from "../open/stores.ts";
import { suggestCommand } from "../open/suggest-command.ts";
import { thisMachine } from "../open/user-folders.ts";
import { defineCommand } from "../terminal/define-command.ts";
import { CONFIG, JSON_OUTPUT } from "../terminal/shared-options.ts";
import { daemonStatus } from "./daemon.ts";

export const list = defineCommand({
  name: "list",
  page: "clients.md",
  about: `Lists the servers of the config and of the settings: their state, tools and tokens. Starts only servers that
    a person has allowed, and only if their listing is older than a day.`,
  options: { config: CONFIG, json: JSON_OUTPUT },
  run: async ({ config, json }) => {
    const measured = await readServerStates(config);
    const { servers } = measured;
    if (json) return console.log(JSON.stringify(measured, null, 2));
    if (servers.length === 0) return console.log("No servers. Add one: keyhole add NAME -- COMMAND ARGS");
    console.log([...costLines(servers), "", ...savingLines(measured.savings)].join("\n"));
  },
});

export const status = defineCommand({
  name: "status",
  about: `Shows everything at a glance: clients that are connected, the daemon that serves them, servers with their
    state, tools and tokens, and tokens of agents. Starts only servers that you have allowed, and only if their listing
    is older than a day.`,
  options: { config: CONFIG, json: JSON_OUTPUT },
  run: async ({ config, json }) => {
    const [configs, measured, daemon] = await Promise.all([
      findConfigs(CLIENTS, thisMachine()),
      readServerStates(config),
      daemonStatus(),
    ]);
    const connected = configs.filter(({ isConnected }) => isConnected);
    const clients = [...new Set(connected.map(({ client }) => client.title))];
    const tokens = openTokens().list();
    if (json) {
      const agents = tokens.map(({ name, expiresAt }) => ({
        name,
        ...(expiresAt !== undefined && { expiresAt }),
      }));
      const all = { version: PROGRAM_VERSION, clients, daemon: daemon ?? null, tokens: agents, ...measured };
      return console.log(JSON.stringify(all, null, 2));
    }
    const names = tokens.map(({ name }) => name).join(", ");
    console.log(
      [
        `keyhole  ${PROGRAM_VERSION}, Node ${process.versions.node}, ${homedir()}`,
        `clients  ${clients.join(", ") || "none connected: keyhole connect CLIENT"}`,
        `daemon   ${daemon ? `process ${daemon.pid}, ${countOf(daemon.clients, "client")}, ${countOf(daemon.servers, "server")}, ${daemon.memoryMb} MB` : "not running; the first client starts it"}`,
        `agents   ${names || "no tokens"}`,
        `servers  ${measured.servers.length || "none: keyhole add NAME -- COMMAND ARGS"}`,
        ...(measured.servers.length > 0
          ? [...costLines(measured.servers), "", ...savingLines(measured.savings)]
          : []),
      ]
        .map(toVisibleLine)
        .join("\n"),
    );
  },
});

/** The servers of a config with their state and cost. */
async function readServerStates(config: string | undefined) {
  const { servers, options, loaded } = await openConfig({ config });
  for (const { message } of loaded.problems) console.error(toVisibleLine(message));
  const consents = openConsents();
  const programs = servers.map((server) => server.program());
  const allowed = new Set(programs.filter(consents.isGiven).map(({ label }) => label));
  const connected = (await findConfigs(CLIENTS, thisMachine())).filter(({ isConnected }) => isConnected);
  const labels = servers.map(({ label }) => label);
  const clients = [...new Set(connected.map(({ client }) => client))].map((client) => ({ client, labels }));
  const measured = await measureServers(servers, clients, options.pins);
  const states = measured.servers.map((cost) => ({ ...cost, state: stateOf(cost, allowed, config) }));
  return { ...measured, servers: states };
}

function stateOf(cost: ServerCost, allowed: ReadonlySet<string>, config?: string): string {
  const { label, failure, waiting } = cost;
  if (!allowed.has(label)) return `waits for consent: ${suggestCommand(["servers", "allow", label], config)}`;
  if (failure !== undefined) return `down: ${failure}`;
  if (waiting === 0) return "ready";
  return `${waiting} of them wait for approval: ${suggestCommand(["approve", label], config)}`;
}
