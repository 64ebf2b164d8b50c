import type { OperationName } from "../operations/operations.ts";
import { isProblem, type Problem } from "../schema/problem.ts";
import { PROGRAM_VERSION } from "../util/program-version.ts";

/** The commands and what each does. */
type Summaries = ReadonlyMap<string, string>;

interface Command {
  readonly summary: string;
  /** Loads the command when it runs. */
  load(): Promise<{ run(args: readonly string[], summaries: Summaries): Promise<void> }>;
  /** Takes over before anything else is loaded. Returns false if the command has to run. */
  readonly serveEarly?: (args: readonly string[]) => Promise<boolean>;
}

/** The operations, which are loaded when one of them runs. The command `run` was there before the operation. */
const OPERATIONS: Readonly<Record<Exclude<OperationName, "run">, string>> = {
  ask: "Find tools, skills, prompts and documents for a need.",
  help: "Describe a domain, a group or one tool.",
  get: "Run reading tools and load documents.",
  exec: "Run one tool.",
  batch: "Run several tools.",
};

const WRONG_USAGE = 2;
const USAGE = `Usage: keyhole COMMAND [options]              COMMAND --help shows its options
       keyhole [--yes] [--dry-run] [--json]   finds your servers and their cost`;

const LOOK: Command = { summary: "", load: () => import("./look.ts") };

/** The commands by what a person wants to do, the most used first. */
const GROUPS: Readonly<Record<string, Readonly<Record<string, Command>>>> = {
  "Set up": {
    connect: {
      summary: "Move the servers of an MCP client behind Keyhole, and back.",
      load: () => import("./connect.ts"),
    },
    status: {
      summary: "Show clients, servers and their cost at a glance.",
      load: () => import("./status.ts"),
    },
    doctor: { summary: "Find what is wrong, with the fix.", load: () => import("./doctor.ts") },
    list: { summary: "List servers with their state, tools and tokens.", load: () => import("./list.ts") },
    add: { summary: "Add a server to Keyhole's own config.", load: () => import("./add.ts") },
    remove: { summary: "Remove a server from Keyhole's own config.", load: () => import("./remove.ts") },
    login: { summary: "Log in to an upstream server.", load: () => import("./login.ts") },
    logout: { summary: "Delete the login to an upstream server.", load: () => import("./logout.ts") },
    completion: { summary: "Complete commands in your shell.", load: () => import("./completion.ts") },
  },
  "Use the tools": {
    chat: { summary: "Chat with the agent in the terminal.", load: () => import("./chat.ts") },
    run: { summary: "Ask the agent once and print its answer.", load: () => import("./run.ts") },
    ...Object.fromEntries(
      Object.entries(OPERATIONS).map(([name, summary]) => [name, operation(name, summary)]),
    ),
    script: operation("run", "Run a script over the tools."),
  },
  "Decide what may run": {
    approve: { summary: "Show and approve what servers offer.", load: () => import("./approve.ts") },
    servers: { summary: "Show what servers run, and let them start.", load: () => import("./servers.ts") },
    pins: {
      summary: "Show and approve the definitions of upstream servers.",
      load: () => import("./pins.ts"),
    },
    trust: { summary: "Show what a folder would run, and trust it.", load: () => import("./trust.ts") },
    secrets: {
      summary: "Keep values that configs refer to by name.",
      load: () => import("./secrets.ts"),
    },
    token: {
      summary: "Make, list and revoke tokens of agents that call over HTTP.",
      load: () => import("./token.ts"),
    },
  },
  "Serve MCP clients": {
    serve: {
      summary: "Serve a catalog to MCP clients, over stdio or HTTP.",
      load: () => import("./serve.ts"),
      serveEarly: async (args) =>
        !args.includes("--no-daemon") && (await import("./serve-by-daemon.ts")).serveByDaemon(args),
    },
    daemon: {
      summary: "Show or stop the process that serves all clients.",
      load: () => import("./daemon.ts"),
    },
    logs: { summary: "Show the log of the daemon.", load: () => import("./logs.ts") },
  },
  "Look after a catalog": {
    report: { summary: "Show what use teaches about your catalog.", load: () => import("./report.ts") },
    lint: { summary: "Find definitions that models have trouble with.", load: () => import("./lint.ts") },
    bench: { summary: "Measure how well your own tools are found.", load: () => import("./bench.ts") },
    index: {
      summary: "Build the index of a library of Markdown files.",
      load: () => import("./build-index.ts"),
    },
    audit: { summary: "Verify and show the audit log.", load: () => import("./audit.ts") },
    dashboard: {
      summary: "Start a dashboard for traces and metrics, in Docker.",
      load: () => import("./dashboard.ts"),
    },
  },
};
const COMMANDS: Readonly<Record<string, Command>> = Object.assign({}, ...Object.values(GROUPS));

function operation(name: string, summary: string): Command {
  return {
    summary,
    load: async () => (await import("./operate.ts")).operationCommand(name as OperationName),
  };
}

/** Runs the program with the words of a command line. Failures are printed and become the exit code. */
export async function runProgram(words: readonly string[]): Promise<void> {
  const [name = "", ...args] = words;
  if (name.startsWith("-") && withLongHelp(words).includes("--help")) return console.log(usage());
  if (["--version", "-v"].includes(name)) return console.log(PROGRAM_VERSION);
  if (name === "" || name.startsWith("--")) return start(LOOK, "", words);
  if (Object.hasOwn(COMMANDS, name)) return start(COMMANDS[name]!, name, args);
  const { nearest } = await import("../util/nearest.ts");
  const [near] = nearest(name, Object.keys(COMMANDS));
  const hint = near === undefined ? usage() : `Did you mean keyhole ${near}? keyhole --help lists all.`;
  console.error(`Command ${JSON.stringify(name)} not found.\n${hint}`);
  process.exitCode = WRONG_USAGE;
}

async function start(command: Command, name: string, args: readonly string[]): Promise<void> {
  try {
    if (await command.serveEarly?.(args)) return;
    await makeConsoleSafe();
    const { run } = await command.load();
    await run(withLongHelp(args), summaries());
  } catch (error) {
    await makeConsoleSafe();
    console.error(isProblem(error) ? told(name, error) : unexpected(name, error));
    process.exit(1);
  }
}

function told(name: string, { code, message, next }: Problem): string {
  // The table's own next step is for models, which send fields.
  const step =
    code === "INVALID_INPUT"
      ? `${["keyhole", name, "--help"].filter(Boolean).join(" ")} shows how it is used.`
      : next;
  return `${code}: ${message}\n${step}`;
}

async function makeConsoleSafe(): Promise<void> {
  const { installSafeConsole } = await import("./safe-console.ts");
  installSafeConsole();
}

function summaries(): Summaries {
  return new Map(Object.entries(COMMANDS).map(([name, { summary }]) => [name, summary]));
}

/** Every command takes -h for --help. Words after -- belong to the command of a server. */
function withLongHelp(args: readonly string[]): readonly string[] {
  const end = args.includes("--") ? args.indexOf("--") : args.length;
  return args.map((word, index) => (word === "-h" && index < end ? "--help" : word));
}

/** Fits on a screen of 80 by 40. */
function usage(): string {
  const width = Math.max(...Object.keys(COMMANDS).map(({ length }) => length)) + 2;
  const groups = Object.entries(GROUPS).flatMap(([heading, commands]) => [
    `${heading}:`,
    ...Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(width)}${summary}`),
  ]);
  return [USAGE, ...groups].join("\n");
}

/** People get a sentence; developers get the stack with KEYHOLE_DEBUG. */
function unexpected(name: string, error: unknown): unknown {
  if (process.env.KEYHOLE_DEBUG) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return `${["keyhole", name].join(" ").trim()} failed: ${reason}\nWith KEYHOLE_DEBUG=1 it shows where.`;
}
