import { expandAll, expandVariables } from "./expand-variables.ts";
import { readEnvFile } from "./read-env-file.ts";
import type { ServerConfig } from "./server-config.ts";

/** Variables that every program needs. Others have to be in the config. */
export const INHERITED: readonly string[] = [
  "HOME",
  "LANG",
  "LOGNAME",
  "PATH",
  "SHELL",
  "TERM",
  "TMPDIR",
  "TZ",
  "USER",
  "SYSTEMROOT",
];

export type Variables = Readonly<Record<string, string | undefined>>;

export interface LaunchOptions {
  readonly label: string;
  /** Values for `${X}` in the config. */
  readonly variables: Variables;
  /** The environment of the person who uses the server. It inherits a few variables. */
  readonly environment: Variables;
  /** The folder in which a process starts unless its config names one. */
  readonly cwd: string | undefined;
}

/** Everything that decides which process a server is. */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
}

/**
 * Fills in the variables of a server's config.
 *
 * @throws SERVER_CONFIG_INVALID if a variable or the `envFile` is missing.
 */
export function toLaunch(
  config: Extract<ServerConfig, { transport: "stdio" }>,
  { label, variables, environment, cwd: folder }: LaunchOptions,
): Launch {
  const place = config.cwd ?? folder;
  const cwd = place === undefined ? undefined : expandVariables(label, place, variables);
  return {
    command: expandVariables(label, config.command, variables),
    args: config.args.map((argument) => expandVariables(label, argument, variables)),
    env: {
      ...inherited(environment),
      ...readEnvFile({ label, config, variables }, cwd),
      ...expandAll(label, config.env, variables),
    },
    cwd,
  };
}

function inherited(environment: Variables): Record<string, string> {
  const present = INHERITED.flatMap((name) => {
    const value = environment[name];
    // Shell functions are not data.
    return value === undefined || value.startsWith("()") ? [] : [[name, value] as const];
  });
  return Object.fromEntries(present);
}
