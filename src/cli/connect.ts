import { join } from "node:path";
import type { Client } from "../clients/client.ts";
import { CLIENTS } from "../clients/clients.ts";
import { type Connections, createConnections } from "../clients/connections.ts";
import { type ConnectionPlan, planConnection } from "../clients/plan-connection.ts";
import { problem, problemSaying } from "../schema/problem.ts";
import { nearest } from "../util/nearest.ts";
import { askYesOrNo, hasTerminal } from "./confirm.ts";
import { openConsents } from "./open-consents.ts";
import { FLAG, readWordsAndArgs } from "./read-args.ts";
import { connectionLines, programOf } from "./show-connection.ts";
import { isTemporary, ownConfig, serveProgram, thisMachine } from "./this-machine.ts";
import { setStateFolder } from "./user-folders.ts";

const USAGE = `Usage: keyhole connect CLIENT [--projects] [--read-only] [--dry-run] [--yes]
       keyhole connect CLIENT --undo

Moves the servers of a client into Keyhole's own config and puts Keyhole in their place. Shows every changed line
first, asks, and keeps a backup. --undo restores the client's config byte for byte; if it has changed since, only
Keyhole's part is undone.

  CLIENT           ${CLIENTS.map(({ name }) => name).join(", ")}
  --projects       also move the servers of this folder and of Claude Code's projects
  --read-only      let the client only read through Keyhole
  --dry-run        show the change, write nothing
  --yes            do not ask
  -h, --help`;

export async function run(args: readonly string[]): Promise<void> {
  const { values, positionals } = readOptions(args);
  if (values.help) return console.log(USAGE);
  const client = findClient(positionals);
  if (values.undo) return undo(client);
  await connect(client, values);
}

export interface ConnectOptions {
  readonly projects?: boolean;
  readonly "read-only"?: boolean;
  readonly "dry-run"?: boolean;
  readonly yes?: boolean;
}

/** Shows the plan, asks, and carries it out. */
export async function connect(client: Client, options: ConnectOptions): Promise<void> {
  const machine = thisMachine();
  const program = serveProgram(options["read-only"] ?? false);
  const plan = await planConnection(client, {
    machine,
    program,
    ownPath: ownConfig(),
    withProjects: options.projects ?? false,
  });
  if (plan.files.every(({ before, after }) => before === after))
    return console.log(`${client.title} is connected already.`);
  console.log(connectionLines(plan, machine.home).join("\n"));
  if (isTemporary(program))
    console.log(
      "\nThis program lies in the cache of npx. Install it first, so that it stays: npm install -g keyhole",
    );
  if (options["dry-run"]) return console.log("\nNothing was written.");
  if (!options.yes && !(await agrees(client))) {
    process.exitCode = 1;
    return console.log("Nothing was written.");
  }
  const place = await openConnections().make(plan);
  await consent(plan, machine.home, options.yes ?? false);
  console.log(`${client.title} is connected. Restart it.
Backup: ${place}
Back:   keyhole connect ${client.name} --undo
Next:   keyhole approve   shows the tools of the servers and asks`);
}

async function agrees({ title }: Client): Promise<boolean> {
  if (hasTerminal()) return askYesOrNo(`\nConnect ${title}, and let these servers start?`);
  throw problemSaying(
    "PERSON_NEEDED",
    `Connecting ${title} needs a person, and there is no terminal to ask in.`,
    "A person has to run the command in a terminal, or repeat it with --yes.",
  );
}

/**
 * Records the consents to start the servers. Others may have written a project's file, so its servers wait for
 * `keyhole servers allow` unless a person has just seen them.
 */
async function consent({ moved }: ConnectionPlan, home: string, isUnseen: boolean): Promise<void> {
  const agreed = moved.filter(({ isOfProject }) => !(isOfProject && isUnseen));
  await openConsents().give(agreed.map((server) => programOf(server, home)));
}

async function undo({ name, title }: Client): Promise<void> {
  const undone = await openConnections().undo(name);
  if (!undone) {
    process.exitCode = 1;
    return console.log(`${title} is not connected.`);
  }
  for (const path of undone.restored) console.log(`${path} is as it was before.`);
  for (const path of undone.mended)
    console.log(`${path} has changed since it was connected: only Keyhole's part is undone.`);
}

export function openConnections(): Connections {
  return createConnections(join(setStateFolder(), "connections"));
}

function findClient(names: readonly string[]): Client {
  const [name = ""] = names;
  const known = CLIENTS.map((client) => client.name);
  const client = CLIENTS.find((one) => one.name === name);
  if (client && names.length === 1) return client;
  const [near] = nearest(name, known);
  const said = name === "" ? "the client is missing" : `client ${name} not found`;
  const hint = near === undefined || name === "" ? `known: ${known.join(", ")}` : `nearest: ${near}`;
  const reason = names.length > 1 ? "too many arguments" : `${said}; ${hint}`;
  throw problem("INVALID_INPUT", { operation: "connect", reason });
}

function readOptions(args: readonly string[]) {
  return readWordsAndArgs("connect", args, {
    undo: FLAG,
    projects: FLAG,
    "read-only": FLAG,
    "dry-run": FLAG,
    yes: FLAG,
  });
}
