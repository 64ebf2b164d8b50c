import { isProblem, type Problem, problem } from "../base/problems/problem.ts";
import { isBelowServer } from "../base/util/process-marker.ts";
import { PROGRAM_VERSION } from "../base/util/program-version.ts";
import type { OperationName } from "../core/operations/operations.ts";
import type { Command } from "./terminal/define-command.ts";

const WRONG_USAGE = 2;
const USAGE = `Usage: keyhole COMMAND [options]              help COMMAND shows its options
       keyhole [--yes] [--dry-run] [--json]   finds your servers and their cost`;
const LAST_LINE = "Also: help, version, disconnect CLIENT, uninstall, completion SHELL";

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
      "Move a client's servers behind Keyhole, and back.",
      () => import("./commands/connect.ts"),
    ),
    row("add", "Add a server to Keyhole's own config.", () => import("./commands/manage-servers.ts")),
    row("remove", "Remove a server from Keyhole's own config.", () => import("./commands/manage-servers.ts")),
    row("servers", "Show clients, servers and their tools.", () => import("./commands/servers.ts")),
    row("approve", "Approve servers, their tools, and folders.", () => import("./approvals/approve.ts")),
    row("login", "Log in to a server.", () => import("./commands/manage-servers.ts")),
    row("logout", "Delete the login to a server.", () => import("./commands/manage-servers.ts")),
    row("secrets", "Keep values that configs refer to by name.", () => import("./commands/secrets.ts")),
  ],
  "Use the tools": [
    row("chat", "Chat with the agent, or ask it once.", () => import("./commands/chat.ts")),
    operation("ask", "Find tools, skills, prompts and documents for a need."),
    row("show", "Describe servers and tools, load documents.", async () => ({
      show: (await import("./commands/operate.ts")).showCommand(),
    })),
    operation("call", "Run a tool.", "exec"),
    operation("script", "Run a script over the tools.", "run"),
  ],
  "Serve and look after it": [
    row("serve", "Serve MCP clients, over stdio or HTTP.", () => import("./daemon/serve-here.ts")),
    row("console", "Open the console in your browser.", () => import("./commands/console.ts")),
    row(
      "agents",
      "Make and revoke keys of agents that call over HTTP.",
      () => import("./commands/agents.ts"),
    ),
    row("doctor", "Find what is wrong, with the fix.", () => import("./commands/doctor.ts")),
    row("logs", "Show the daemon's log, and who called what.", () => import("./commands/logs.ts")),
    row("catalog", "Check how tools are described, found and used.", () => import("./commands/catalog.ts")),
  ],
};
/** Commands that the help names in one line. */
export const OTHERS: readonly CommandRow[] = [
  row("disconnect", "Give a client its servers back.", () => import("./commands/connect.ts")),
  row("uninstall", "Undo every connection, and say what is left.", () => import("./commands/uninstall.ts")),
  row("completion", "Complete commands in your shell.", () => import("./commands/completion.ts")),
];
const COMMANDS = [...Object.values(GROUPS).flat(), ...OTHERS];
const NAMES = COMMANDS.map(({ name }) => name);
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
export async function runProgram(words: readonly string[]): Promise<void> {
  const [name = "", ...args] = words;
  if (name === "help") return showHelp(args);
  if (name.startsWith("-") && isHelpAsked(words)) return console.log(usage());
  if (["--version", "-v", "version"].includes(name)) return console.log(PROGRAM_VERSION);
  if (name === "" || name.startsWith("--")) return start(FIRST_LOOK, words);
  const command = COMMANDS.find((one) => one.name === name);
  return command ? start(command, args) : refuse(name);
}

async function showHelp([name = "--help"]: readonly string[]): Promise<void> {
  const command = COMMANDS.find((one) => one.name === name);
  if (command) return start(command, ["--help"]);
  return name.startsWith("-") ? console.log(usage()) : refuse(name);
}

async function refuse(name: string): Promise<void> {
  const { nearest } = await import("../base/util/nearest.ts");
  const [near] = nearest(name, [...NAMES, "help", "version"]);
  const hint = near === undefined ? usage() : `Did you mean keyhole ${near}? keyhole help lists all.`;
  console.error(`Command ${JSON.stringify(name)} not found.\n${hint}`);
  process.exitCode = WRONG_USAGE;
}

async function start(command: Pick<CommandRow, "name" | "load">, args: readonly string[]): Promise<void> {
  const { name } = command;
  try {
    // They act with the word of a person: approvals, keys, secrets, and calls of other servers.
    if (name !== "completion" && !isHelpAsked(args) && isBelowServer())
      throw problem("NOT_FOR_SERVERS", { command: ["keyhole", name].join(" ").trim() });
    if (name === "serve" && (await serveEarly(args))) return;
    await makeConsoleSafe();
    await (await command.load()).start(args, loadCommands);
  } catch (error) {
    await makeConsoleSafe();
    console.error(isProblem(error) ? formatProblem(name, error) : unexpected(name, error));
    // Wait for the last line: an exit drops what a slow reader of the pipe has not taken yet.
    await new Promise((resolve) => process.stdout.write("", resolve));
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
  const width = Math.max(...Object.values(GROUPS).flatMap((rows) => rows.map(({ name }) => name.length))) + 2;
  const groups = Object.entries(GROUPS).flatMap(([heading, commands]) => [
    `${heading}:`,
    ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}${summary}`),
  ]);
  return [USAGE, ...groups, LAST_LINE].join("\n");
}

const FILE_FAULTS: Readonly<Record<string, string>> = {
  EACCES: "you may not write there",
  EPERM: "you may not write there",
  EROFS: "the disk is read-only",
  ENOSPC: "the disk is full",
  ENOTDIR: "a file stands where a folder should be",
  ENOENT: "no folder can be made there",
};
const FOLDER_FIX =
  "Set KEYHOLE_STATE to a folder that you can write, or correct that place; keyhole doctor says which folders are used.";

/** People get a sentence; developers get the stack with KEYHOLE_DEBUG. */
function unexpected(name: string, error: unknown): unknown {
  if (process.env.KEYHOLE_DEBUG) return error;
  const { code = "", path } = error as NodeJS.ErrnoException;
  if (path !== undefined && Object.hasOwn(FILE_FAULTS, code))
    return `keyhole ${name} cannot use ${path}: ${FILE_FAULTS[code]}.\n${FOLDER_FIX}`;
  const reason = error instanceof Error ? error.message : String(error);
  return `${["keyhole", name].join(" ").trim()} failed: ${reason}\nWith KEYHOLE_DEBUG=1 it shows where.`;
}
