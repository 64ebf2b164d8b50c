#!/usr/bin/env node
import { isProblem } from "../schema/problem.ts";
import { keepCompiled } from "./keep-compiled.ts";

interface Command {
  readonly summary: string;
  /** Loads the command when it runs. */
  load(): Promise<{ run(args: readonly string[]): Promise<void> }>;
}

const COMMANDS: Readonly<Record<string, Command>> = {
  serve: { summary: "Serve a catalog to MCP clients, over stdio or HTTP.", load: () => import("./serve.ts") },
  chat: { summary: "Chat with the agent in the terminal.", load: () => import("./chat.ts") },
  run: { summary: "Ask the agent once and print its answer.", load: () => import("./run.ts") },
  login: { summary: "Log in to an upstream server.", load: () => import("./login.ts") },
  logout: { summary: "Delete the login to an upstream server.", load: () => import("./logout.ts") },
  trust: { summary: "Show what a folder would run, and trust it.", load: () => import("./trust.ts") },
  servers: { summary: "Show what servers run, and let them start.", load: () => import("./servers.ts") },
  pins: { summary: "Show and approve the definitions of upstream servers.", load: () => import("./pins.ts") },
  index: {
    summary: "Build the index of a library of Markdown files.",
    load: () => import("./build-index.ts"),
  },
};

keepCompiled();

const [name = "", ...args] = process.argv.slice(2);
if (!Object.hasOwn(COMMANDS, name)) {
  const lines = Object.entries(COMMANDS).map(([command, { summary }]) => `  ${command.padEnd(10)}${summary}`);
  const usage = `Usage: keyhole COMMAND [options]\n\n${lines.join("\n")}\n\nkeyhole COMMAND --help shows its options.`;
  const isAsked = ["", "--help", "-h", "help"].includes(name);
  if (isAsked) console.log(usage);
  else console.error(`Command ${JSON.stringify(name)} not found.\n\n${usage}`);
  process.exit(isAsked ? 0 : 2);
}

try {
  const { run } = await COMMANDS[name]!.load();
  await run(args);
} catch (error) {
  console.error(isProblem(error) ? `${error.code}: ${error.message}\n${error.next}` : error);
  process.exit(1);
}
