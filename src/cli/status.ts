import { homedir } from "node:os";
import { CLIENTS } from "../clients/clients.ts";
import { findConfigs } from "../clients/find-configs.ts";
import { PROGRAM_VERSION } from "../util/program-version.ts";
import { toVisibleLine } from "../util/visible-text.ts";
import { daemonStatus } from "./daemon.ts";
import { readServerStates } from "./list.ts";
import { openTokens } from "./open-tokens.ts";
import { FLAG, readArgs, TEXT } from "./read-args.ts";
import { costLines, savingLines } from "./show-costs.ts";
import { thisMachine } from "./this-machine.ts";

const USAGE = `Usage: keyhole status [--config FILE] [--json]

Shows everything at a glance: clients that are connected, the daemon that serves them, servers with their state, tools
and tokens, and tokens of agents. Starts only servers that you have allowed, and only if their listing is older than a
day.

  --config FILE    as for keyhole serve
  --json
  -h, --help`;

export async function run(args: readonly string[]): Promise<void> {
  const { values } = readArgs("status", args, {
    config: TEXT,
    json: FLAG,
  });
  if (values.help) return console.log(USAGE);
  const [configs, measured, daemon] = await Promise.all([
    findConfigs(CLIENTS, thisMachine()),
    readServerStates(values.config),
    daemonStatus(),
  ]);
  const connected = configs.filter(({ isConnected }) => isConnected);
  const clients = [...new Set(connected.map(({ client }) => client.title))];
  const tokens = openTokens().list();
  if (values.json) {
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
      `daemon   ${daemon ? `process ${daemon.pid}, ${daemon.clients} clients, ${daemon.servers} servers, ${daemon.memoryMb} MB` : "not running; the first client starts it"}`,
      `agents   ${names || "no tokens"}`,
      `servers  ${measured.servers.length || "none: keyhole add NAME -- COMMAND ARGS"}`,
      ...(measured.servers.length > 0 ? [...costLines(measured.servers), "", ...savingLines(measured)] : []),
    ]
      .map(toVisibleLine)
      .join("\n"),
  );
}
