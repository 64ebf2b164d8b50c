import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { join, parse, resolve } from "node:path";
import { contentHash } from "../../base/util/content-hash.ts";
import type { Surface } from "../../core/surfaces/surface-names.ts";
import { type ClientMachine, folderOf, type Program } from "../clients/client.ts";
import { settingsPath } from "./config-files.ts";

/** Sets `KEYHOLE_STATE`, the folder of state that survives restarts, unless it is set. Sources read it from there. */
export function setStateFolder(): string {
  const base = folderOf(process.env.XDG_STATE_HOME, join(homedir(), ".local", "state"));
  process.env.KEYHOLE_STATE ||= join(base, "keyhole");
  return process.env.KEYHOLE_STATE;
}

/** The folder of the recipes of a config, which a person may edit. Those of the settings have no folder of their own. */
export function recipesFolder(config: string | undefined): string {
  const folder = join(homedir(), ".keyhole", "recipes");
  if (config === undefined) return folder;
  const path = resolve(config);
  return join(folder, `${parse(path).name}-${contentHash(path).slice(0, 8)}`);
}

export function cacheFolder(): string {
  return join(folderOf(process.env.XDG_CACHE_HOME, join(homedir(), ".cache")), "keyhole");
}

/** Keyhole's own folders, which no server and no command of the agent sees. */
export function ownFolders(): string[] {
  return [join(homedir(), ".keyhole"), setStateFolder(), cacheFolder()];
}

export function thisMachine(): ClientMachine {
  return { home: homedir(), platform: process.platform, env: process.env, project: process.cwd() };
}

/** Keyhole's own config: the person's settings, whose `mcpServers` all commands read. */
export function ownConfig(): string {
  return settingsPath(homedir());
}

/** Starts this very program for a client. Absolute, because clients have other folders and another PATH. */
export function serveProgram(isReadOnly: boolean, surface?: Surface): Program {
  const main = realpathSync(process.argv[1]!);
  const more = [...(isReadOnly ? [] : ["--allow-write"]), ...(surface ? ["--surface", surface] : [])];
  return { command: process.execPath, args: [main, "serve", "--config", ownConfig(), ...more] };
}

/** Whether the program lies in a cache that npx may empty. */
export function isTemporary({ args }: Program): boolean {
  return /[\\/]_npx[\\/]/.test(args[0] ?? "");
}
