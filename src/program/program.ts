import { isProblem, type Problem } from "../base/problems/problem.ts";
import { PROGRAM_VERSION } from "../base/util/program-version.ts";
import { DECIDE } from "./definitions/decide.ts";
import { LOOK_AFTER } from "./definitions/look-after.ts";
import { SERVE } from "./definitions/serve.ts";
import { FIRST_LOOK, SET_UP } from "./definitions/set-up.ts";
import { type OperationCommand, USE_TOOLS } from "./definitions/use-tools.ts";
import type { Command } from "./terminal/define-command.ts";

const WRONG_USAGE = 2;
const USAGE = `Usage: keyhole COMMAND [options]              COMMAND --help shows its options
       keyhole [--yes] [--dry-run] [--json]   finds your servers and their cost`;

/** The commands by what a person wants to do, the most used first. */
export const GROUPS: Readonly<Record<string, readonly (Command | OperationCommand)[]>> = {
  "Set up": SET_UP,
  "Use the tools": USE_TOOLS,
  "Decide what may run": DECIDE,
  "Serve MCP clients": SERVE,
  "Look after a catalog": LOOK_AFTER,
};
const COMMANDS = Object.values(GROUPS).flat();

/** All commands, with those that are loaded late. */
export function loadCommands(): Promise<readonly Command[]> {
  return Promise.all(COMMANDS.map(loaded));
}

/** Runs the program with the words of a command line. Failures are printed and become the exit code. */
export async function runProgram(words: readonly string[]): Promise<void> {
  const [name = "", ...args] = words;
  if (name.startsWith("-") && isHelpAsked(words)) return console.log(usage());
  if (["--version", "-v"].includes(name)) return console.log(PROGRAM_VERSION);
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

async function start(command: Command | OperationCommand, args: readonly string[]): Promise<void> {
  const { name } = command;
  try {
    if (name === "serve" && (await serveEarly(args))) return;
    await makeConsoleSafe();
    await (await loaded(command)).start(args, loadCommands);
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

function loaded(command: Command | OperationCommand): Promise<Command> | Command {
  return "load" in command ? command.load() : command;
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
