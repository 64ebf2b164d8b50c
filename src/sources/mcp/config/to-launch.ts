import { expandAll, expandVariables } from "./expand-variables.ts";
import { readEnvFile } from "./read-env-file.ts";
import type { ServerConfig } from "./server-config.ts";

/**
 * Variables that every program needs: the person's folders, Windows' own, proxies and certificates. Others have to be
 * in the config.
 */
const INHERITED: readonly string[] = [
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
  "SYSTEMDRIVE",
  "WINDIR",
  "COMSPEC",
  "PATHEXT",
  "USERPROFILE",
  "USERNAME",
  "HOMEDRIVE",
  "HOMEPATH",
  "APPDATA",
  "LOCALAPPDATA",
  "PROGRAMDATA",
  "PROGRAMFILES",
  "TEMP",
  "TMP",
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "ALL_PROXY",
  "NO_PROXY",
  "NODE_EXTRA_CA_CERTS",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "REQUESTS_CA_BUNDLE",
  "CURL_CA_BUNDLE",
];
const WANTED = new Set(INHERITED);

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

/** The part of an environment that every server gets. */
export function inherited(environment: Variables): Record<string, string> {
  // Proxies are often written in small letters, and Windows knows no case at all. Shell functions are not data.
  const present = Object.entries(environment).filter(
    ([name, value]) => WANTED.has(name.toUpperCase()) && value !== undefined && !value.startsWith("()"),
  );
  return Object.fromEntries(present) as Record<string, string>;
}
