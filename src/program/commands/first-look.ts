import { join } from "node:path";
import { toVisibleLine } from "../../base/safety/visible-text.ts";
import { countOf } from "../../base/util/count-of.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import type { McpServerConfig } from "../../sources/mcp/config/server-config.ts";
import { fromMcpConfig } from "../../sources/mcp/mcp-source.ts";
import { approveMoved } from "../approvals/approve-moved.ts";
import type { Client } from "../clients/client.ts";
import { CLIENTS } from "../clients/clients.ts";
import { type FoundConfig, findConfigs } from "../clients/find-configs.ts";
import { serversToMove, sharedLines, shareServers } from "../clients/shared-servers.ts";
import {
  type ClientServers,
  costSentence,
  type Measured,
  measureServers,
} from "../doctor/measure-servers.ts";
import { CONVERSATION, isWorthwhile, savingLines } from "../doctor/savings.ts";
import { cacheFolder, thisMachine } from "../open/user-folders.ts";
import { askLine, askYesOrNo, hasTerminal, isYes } from "../terminal/confirm.ts";
import { defineCommand, wrapText } from "../terminal/define-command.ts";
import { JSON_OUTPUT } from "../terminal/shared-options.ts";
import { connectClient } from "./connect.ts";

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
    const found = await findConfigs(CLIENTS, machine);
    const { configs, clients } = serversToMove(shareServers(found, machine.home));
    const isAsked = hasTerminal() && !json;
    const listed = sharedLines(found, machine.home, columnsOf());
    if (!json) console.log(listed.join("\n") || "No MCP servers found in the configs of known clients.");
    const isMeasured =
      configs.size > 0 &&
      !dryRun &&
      (yes ||
        (isAsked && (await askYesOrNo(`\nStart ${countOf(configs.size, "server")} to count the tokens?`))));
    const measured = isMeasured ? await measure(configs, clients, machine.home) : undefined;
    if (json) return console.log(JSON.stringify(toJson(found, measured), null, 2));
    if (measured) {
      const costs = costSentence(measured.servers, columnsOf());
      console.log(["", ...costs, ...savingLines(measured.savings, columnsOf()), ""].join("\n"));
    }
    const open = clients.map(({ client }) => client);
    if (dryRun) return showPlans(open);
    const saving = open.filter(({ name }) => wouldSave(name, measured));
    if (!isAsked || yes || open.length === 0)
      return console.log(["", ...nextLines(configs.size, isMeasured, saving)].join("\n"));
    await connectAndApprove(await askWhich(open, saving));
    // Saying no to an offer is no failure.
    process.exitCode = 0;
  },
});

async function showPlans(open: readonly Client[]): Promise<void> {
  for (const client of open) {
    console.log("");
    await orReport(connectClient(client, { dryRun: true }));
  }
  process.exitCode = 0;
}

/** A broken config of one client leaves the others their offer. */
function orReport(connecting: Promise<void>): Promise<void> {
  return connecting.catch((error: unknown) => console.error(toVisibleLine(reasonOf(error))));
}

/** Asks which clients to connect. `y` stands for those that would save tokens, or for the only one. */
async function askWhich(open: readonly Client[], saving: readonly Client[]): Promise<readonly Client[]> {
  const names = open.map(({ name }) => name);
  say(
    "Connecting moves the servers behind Keyhole and keeps a backup. keyhole connect CLIENT --dry-run shows each changed line; keyhole disconnect CLIENT goes back.",
  );
  if (open.length === 1) {
    const anyway = saving.length === 0 ? " all the same" : "";
    const agreed = await askYesOrNo(`Connect ${open[0]!.title}${anyway}, and let its servers start?`);
    return agreed ? open : [];
  }
  const isSome = saving.length > 0 && saving.length < open.length;
  const yes = isSome ? `y (the ${saving.length} that save), ` : "";
  const choices = `${yes}all, none, or some of ${names.join(" ")}`;
  say(`Connect which clients, and let their servers start? ${choices}`);
  for (;;) {
    const answer = (await askLine("> ")).toLowerCase();
    if (["", "n", "no", "none"].includes(answer)) return [];
    if (answer === "all") return open;
    if (isYes(answer) && saving.length > 0) return saving;
    const words = answer.split(/[\s,]+/);
    const unknown = words.filter((word) => !names.includes(word));
    if (unknown.length === 0) return open.filter(({ name }) => words.includes(name));
    say(`${unknown.join(", ")} is not among them: ${choices}`);
  }
}

/** Whether a client would save tokens, as far as they were counted. */
function wouldSave(client: string, measured: Measured | undefined): boolean {
  return measured?.savings.some((saving) => saving.client === client && isWorthwhile(saving)) ?? true;
}

/** Connects clients, and goes on to approve exactly the servers that have moved. */
async function connectAndApprove(chosen: readonly Client[]): Promise<void> {
  const moved = new Set<string>();
  const connected: Client[] = [];
  for (const client of chosen) {
    const onConnected = ({ moved: servers }: { moved: readonly { name: string }[] }) => {
      connected.push(client);
      for (const { name } of servers) moved.add(name);
    };
    await orReport(connectClient(client, { onConnected }));
  }
  if (connected.length === 0) return;
  say(`Connected: ${titlesOf(connected)}.`);
  if (moved.size > 0) await approveMoved([...moved]);
  const back = connected.length === 1 ? connected[0]!.name : "CLIENT";
  say(`Restart ${titlesOf(connected)}. keyhole disconnect ${back} goes back.`);
}

function titlesOf(clients: readonly Client[]): string {
  return clients.map(({ title }) => title).join(", ");
}

function nextLines(count: number, isMeasured: boolean, open: readonly Client[]): string[] {
  if (count === 0) return ["Add a server: keyhole add NAME -- COMMAND ARGS   All commands: keyhole --help"];
  return [
    ...(isMeasured
      ? []
      : ["Nothing was started. keyhole --yes starts these servers and counts their tokens."]),
    ...open.map(({ name }) => `Move them behind Keyhole: keyhole connect ${name}`),
  ];
}

/** The person has agreed to start them, and only their listings are read. */
function measure(
  configs: ReadonlyMap<string, McpServerConfig>,
  clients: readonly ClientServers[],
  home: string,
): Promise<Measured> {
  const options = {
    trusted: true,
    inherits: "all" as const,
    cwd: home,
    cacheDirectory: join(cacheFolder(), "listings"),
  };
  return measureServers(fromMcpConfig({ mcpServers: Object.fromEntries(configs) }, options), clients);
}

function toJson(found: readonly FoundConfig[], measured: Measured | undefined): object {
  return {
    configs: found.map(({ client, place, servers, problem, isConnected }) => ({
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
    ...(measured && { measured: { ...measured, conversation: CONVERSATION } }),
  };
}

/** Prints text of this program or of an outside word in whole words. */
function say(text: string): void {
  console.log(wrapText(toVisibleLine(text), columnsOf() - 1).join("\n"));
}

function columnsOf(): number {
  return Math.min(process.stdout.columns || 80, 100);
}
