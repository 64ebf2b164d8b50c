import { isProblem, type Problem } from "../base/problems/problem.ts";
import { PROGRAM_VERSION } from "../base/util/program-version.ts";
import type { OperationName } from "../core/operations/operations.ts";
import { readOldName } from "./old-names.ts";
import type { Command } from "./terminal/define-command.ts";

const WRONG_USAGE = 2;
const USAGE = `Usage: keyhole COMMAND [options]              COMMAND --help shows its options
       keyhole [--yes] [--dry-run] [--json]   finds your servers and their cost`;

/** A command as `keyhole --help` lists it. Its module is loaded when it runs. */
interface CommandRow {
  readonly name: string;
  readonly summary: string;
  load(): Promise<Command>;
}

/** The commands by what a person wants to do, the most used first. */
export const GROUPS: Readonly<Record<string, readonly CommandRow[]>> = {
  "Set up": [
    row(
      "connect",
      "Move the servers of an MCP client behind Keyhole, and back.",
      () => import("./commands/connect.ts"),
    ),
    row("disconnect", "Give an MCP client its servers back.", () => import("./commands/connect.ts")),
    row("status", "Show clients, servers and their cost at a glance.", () => import("./commands/status.ts")),
    row("doctor", "Find what is wrong, with the fix.", () => import("./commands/doctor.ts")),
    row("list", "List servers with their state, tools and tokens.", () => import("./commands/status.ts")),
    row("add", "Add a server to Keyhole's own config.", () => import("./commands/manage-servers.ts")),
    row("remove", "Remove a server from Keyhole's own config.", () => import("./commands/manage-servers.ts")),
    row("login", "Log in to an upstream server.", () => import("./commands/manage-servers.ts")),
    row("logout", "Delete the login to an upstream server.", () => import("./commands/manage-servers.ts")),
    row("completion", "Complete commands in your shell.", () => import("./commands/completion.ts")),
  ],
  "Use the tools": [
    row("chat", "Chat with the agent in the terminal.", () => import("./commands/chat.ts")),
    row("run", "Ask the agent once and print its answer.", () => import("./commands/run.ts")),
    operation("ask", "Find tools, skills, prompts and documents for a need."),
    operation("help", "Describe a domain, a group or one tool."),
    operation("get", "Run reading tools and load documents."),
    operation("exec", "Run one tool."),
    operation("batch", "Run several tools."),
    // The command `run` was there before the operation.
    operation("script", "Run a script over the tools.", "run"),
  ],
  "Decide what may run": [
    row(
      "approve",
      "Decide which servers, tools and folders may be used.",
      () => import("./approvals/approve.ts"),
    ),
    row("servers", "Show what servers run.", () => import("./approvals/servers.ts")),
    row("secrets", "Keep values that configs refer to by name.", () => import("./commands/secrets.ts")),
    row("agents", "Keys of agents that call over HTTP.", () => import("./commands/agents.ts")),
  ],
  "Serve MCP clients": [
    row(
      "serve",
      "Serve a catalog to MCP clients, over stdio or HTTP.",
      () => import("./daemon/serve-here.ts"),
    ),
    row("daemon", "Show or stop the process that serves all clients.", () => import("./commands/daemon.ts")),
    row("logs", "Show the daemon's log, and who called what.", () => import("./commands/logs.ts")),
  ],
  "Look after a catalog": [
    row("catalog", "Check how tools are described, found and used.", () => import("./commands/catalog.ts")),
  ],
};
const COMMANDS = Object.values(GROUPS).flat();
/** `keyhole` without a command. Its help is that of the program. */
const FIRST_LOOK = {
  name: "",
  load: async () => (await import("./commands/first-look.ts")).firstLook,
};

/** A command that its module exports under its name. */
function row<Name extends string>(
  name: Name,
  summary: string,
  load: () => Promise<Readonly<Record<Name, Command>>>,
): CommandRow {
  return { name, summary, load: async () => (await load())[name] };
}

/** A command whose options are the fields of an operation. */
function operation(name: string, summary: string, of = name as OperationName): CommandRow {
  return { name, summary, load: async () => (await import("./commands/operate.ts")).operationCommand(of) };
}

export function loadCommands() {
  return Promise.all(COMMANDS.map(async ({ summary, load }) => ({ ...(await load()), summary })));
}

/** Runs the program with the words of a command line. Failures are printed and become the exit code. */
export async function runProgram(typed: readonly string[]): Promise<void> {
  const renamed = readOldName(typed);
  if (renamed) console.error(renamed.sentence);
  const words = renamed?.words ?? typed;
  const [name = "", ...args] = words;
  if (name.startsWith("-") && isHelpAsked(words)) return console.log(usage());
  if (["--version", "-v", "version"].includes(name)) return console.log(PROGRAM_VERSION);
  if (name === "" || name.startsWith("--")) return start(FIRST_LOOK, words);
  const command = COMMANDS.find((one) => one.name === name);
  if (command) return start(command, args);
  const { nearest } = await import("../base/util/nearest.ts");
  const [near] = nearest(
    name,
    COMMANDS.map((one) => one.name),
  );
  const hint = near === undefined ? usage() : `Did you mean keyhole ${near}? keyhole --help lists all.`;
  console.error(`Command ${JSON.stringify(name)} not found.\n${hint}`);
  process.exitCode = WRONG_USAGE;
}

async function start(command: Pick<CommandRow, "name" | "load">, args: readonly string[]): Promise<void> {
  const { name } = command;
  try {
    if (name === "serve" && (await serveEarly(args))) return;
    await makeConsoleSafe();
    await (await command.load()).start(args, loadCommands);
  } catch (error) {
    await makeConsoleSafe();
    console.error(isProblem(error) ? formatProblem(name, error) : unexpected(name, error));
    process.exit(1);
  }
}

/** Passes the client on to the daemon before anything else is loaded. */
async function serveEarly(args: readonly string[]): Promise<boolean> {
  if (args.includes("--no-daemon")) return false;
  return (await import("./daemon/serve-by-daemon.ts")).serveByDaemon(args);
}

function formatProblem(name: string, { code, message, next }: Problem): string {
  // The table's own next step is for models, which send fields.
  const step =
    code === "INVALID_INPUT"
      ? `${["keyhole", name, "--help"].filter(Boolean).join(" ")} shows how it is used.`
      : next;
  return `${code}: ${message}\n${step}`;
}

async function makeConsoleSafe(): Promise<void> {
  const { installSafeConsole } = await import("./terminal/safe-console.ts");
  installSafeConsole();
}

function isHelpAsked(words: readonly string[]): boolean {
  return words.some((word) => word === "--help" || word === "-h");
}

/** Fits on a screen of 80 by 40. */
function usage(): string {
  const width = Math.max(...COMMANDS.map(({ name }) => name.length)) + 2;
  const groups = Object.entries(GROUPS).flatMap(([heading, commands]) => [
    `${heading}:`,
    ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}${summary}`),
  ]);
  return [USAGE, ...groups].join("\n");
}

/** People get a sentence; developers get the stack with KEYHOLE_DEBUG. */
function unexpected(name: string, error: unknown): unknown {
  if (process.env.KEYHOLE_DEBUG) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return `${["keyhole", name].join(" ").trim()} failed: ${reason}\nWith KEYHOLE_DEBUG=1 it shows where.`;
}
