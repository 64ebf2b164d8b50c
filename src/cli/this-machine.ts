import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import type { Machine, Program } from "../clients/client.ts";
import { settingsPath } from "../config/settings-path.ts";

/** The computer that the command runs on. */
export function thisMachine(): Machine {
  return { home: homedir(), platform: process.platform, env: process.env, project: process.cwd() };
}

/** Keyhole's own config: the person's settings, whose `mcpServers` all commands read. */
export function ownConfig(): string {
  return settingsPath(homedir());
}

/** Starts this very program for a client. Absolute, because clients have other folders and another PATH. */
export function serveProgram(isReadOnly: boolean): Program {
  const main = realpathSync(process.argv[1]!);
  const write = isReadOnly ? [] : ["--allow-write"];
  return { command: process.execPath, args: [main, "serve", "--config", ownConfig(), ...write] };
}

/** Whether the program lies in a cache that npx may empty. */
export function isTemporary({ args }: Program): boolean {
  return /[\\/]_npx[\\/]/.test(args[0] ?? "");
}
