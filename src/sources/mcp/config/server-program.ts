import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { delimiter, isAbsolute, resolve } from "node:path";
import type { ServerAddress, ServerProcess, ServerProgram } from "../../../schema/server-program.ts";
import { contentHash } from "../../../util/content-hash.ts";
import { thisTurn } from "../../../util/this-turn.ts";
import { expandVariables } from "./expand-variables.ts";
import type { ServerConfig } from "./server-config.ts";
import type { Variables } from "./to-launch.ts";
import { findWindowsProgram } from "./windows-command.ts";

export interface ProgramOptions {
  readonly variables: Variables;
  /** The environment of the person who uses the server. */
  readonly environment: Variables;
  /** The folder in which a process starts unless its config names another one. */
  readonly cwd?: string | undefined;
}

const NO_SECRETS = { env: {}, envFile: "", headers: {}, oauth: {} };

/** Describes what a server runs, with two hashes of it. Looks the command up, starts nothing. */
export function toServerProgram(label: string, config: ServerConfig, options: ProgramOptions): ServerProgram {
  const runs = config.transport === "http" ? toAddress(config) : toProcess(label, config, options);
  return {
    label,
    runs,
    // Each reader needs one of the hashes, and a start with many servers reads many.
    get hash() {
      return hashOf(runs);
    },
    get identity() {
      const { env: _, envFile: __, headers: ___, oauth: ____, ...program } = { ...NO_SECRETS, ...runs };
      return hashOf(program);
    },
  };
}

function toAddress({ url, headers, oauth }: Extract<ServerConfig, { transport: "http" }>): ServerAddress {
  return { url, headers, ...(oauth && { oauth }) };
}

function toProcess(
  label: string,
  config: Extract<ServerConfig, { transport: "stdio" }>,
  { variables, environment, cwd = process.cwd() }: ProgramOptions,
): ServerProcess {
  const expand = (text: string) => {
    try {
      return expandVariables(label, text, variables);
    } catch {
      // The start will report the missing variable.
      return text;
    }
  };
  const { command, args, env, envFile } = config;
  const folder = realFolder(resolve(expand(config.cwd ?? cwd)));
  const searched = expand(env.PATH ?? environment.PATH ?? "");
  const path = findCommand(expand(command), searched, folder);
  return {
    command,
    ...(path !== undefined && { path }),
    args,
    cwd: folder,
    env,
    ...(envFile !== undefined && { envFile: resolve(folder, expand(envFile)) }),
  };
}

/** Looks a command up in the way that starting it will. */
function findCommand(command: string, searched: string, cwd: string): string | undefined {
  if (process.platform === "win32") {
    const env = { ...process.env, Path: searched, PATH: searched };
    return findWindowsProgram(command, { env, cwd, isFile: isProgram });
  }
  const candidates =
    isAbsolute(command) || /[\\/]/.test(command)
      ? [resolve(cwd, command)]
      : searched.split(delimiter).map((folder) => resolve(cwd, folder, command));
  return candidates.find(isProgram);
}

const isProgram = thisTurn((path) => {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
});

const realFolder = thisTurn((folder) => {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
});

function hashOf(value: unknown): string {
  return contentHash(JSON.parse(JSON.stringify(value)));
}
