import { readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { parseEnv } from "node:util";
import { namesSecret } from "../../../base/safety/secret-patterns.ts";
import { reasonOf } from "../../../base/util/reason-of.ts";
import type { SandboxLimits, ServerProgram } from "../../../core/nouns/server-program.ts";
import { pathsIn } from "../../isolation/isolation.ts";
import type { Isolation } from "../../isolation/mounts.ts";
import { invalid, type StdioConfig } from "./server-config.ts";

/** Variables that every program needs: the person's folders, Windows' own, proxies and certificates. */
const INHERITED: ReadonlySet<string> = new Set(
  [
    "HOME LANG LOGNAME PATH SHELL TERM TMPDIR TZ USER",
    "SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT USERPROFILE USERNAME HOMEDRIVE HOMEPATH",
    "APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES TEMP TMP",
    "HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY",
    "NODE_EXTRA_CA_CERTS SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE",
  ].flatMap((names) => names.split(" ")),
);

export type LaunchVariables = Readonly<Record<string, string | undefined>>;

export interface LaunchOptions {
  readonly label: string;
  /** Values for `${X}` in the config. */
  readonly variables: LaunchVariables;
  /** Environment of the client or person who uses the server. */
  readonly environment: LaunchVariables;
  /**
   * The part of the environment for the server: the `few` variables that every program needs, or `all` except Keyhole's
   * own, as MCP clients pass on theirs. Default: `few`.
   */
  readonly inherits?: "few" | "all";
  /** Working directory of a process, unless its config names one. */
  readonly cwd: string | undefined;
  /**
   * Isolates servers unless their config says `sandbox: false`. No isolated server sees the `hidden` paths. By default,
   * only servers whose config has a `sandbox` are isolated.
   */
  readonly isolation?: ServerIsolation | undefined;
}

/** Isolation of servers, besides their configs. */
export interface ServerIsolation extends Pick<Isolation, "hidden"> {
  /** The limits that a person accepted for a server whose config has none. */
  accepted?(program: ServerProgram): SandboxLimits | undefined;
  /** Called for hosts that a server requests: unlisted ones, or all during a trial. */
  onHost?(program: ServerProgram, host: string, isListed: boolean): void;
  /** Called for a path that a call of the server could not write because of its limits. */
  onDenied?(program: ServerProgram, path: string): void;
  /** Whether servers start only to learn what they need. */
  readonly isTrial?: boolean;
}

/**
 * Fills in the variables of a server's config: everything that identifies its process.
 *
 * @throws SERVER_CONFIG_INVALID if a variable or the `envFile` is missing.
 */
export function toLaunch(config: StdioConfig, options: LaunchOptions) {
  const { label, variables, environment, inherits, cwd: folder, isolation } = options;
  const expand = (text: string) => expandVariables(label, text, variables);
  const { envFile, container } = config;
  const sandbox = container === undefined && (config.sandbox ?? (isolation && {}));
  const place = config.cwd ?? folder;
  const cwd = place === undefined ? undefined : expand(place);
  const args = config.args.map(expand);
  const declared = expandAll(label, config.env, variables);
  const env = {
    ...inherited(environment, inherits),
    ...(envFile !== undefined && readVariables(label, resolve(cwd ?? process.cwd(), expand(envFile)))),
    ...declared,
  };
  const isolated: Isolation | undefined | false = sandbox && {
    open: pathsIn(
      [...args, ...Object.values(declared), ...(sandbox.folders ?? []).map(expand)],
      resolve(cwd ?? ""),
      env.HOME ?? homedir(),
    ),
    hidden: isolation?.hidden ?? [],
    network: sandbox.network ?? "all",
  };
  const command = expand(config.command);
  return { command, args, env, cwd, isolation: isolated || undefined, isContainer: container !== undefined };
}

/** Keyhole's own variables, and the shell's notes on how it started the client. */
const NOT_PASSED = /^(?:KEYHOLE_.*|PWD|OLDPWD|SHLVL|_)$/i;

function inherited(
  environment: LaunchVariables,
  inherits: LaunchOptions["inherits"] = "few",
): Record<string, string> {
  // Proxy variables are often lower-case, and Windows ignores case. Shell functions are not data.
  const isPassed = (name: string) =>
    inherits === "all" ? !NOT_PASSED.test(name) : INHERITED.has(name.toUpperCase());
  const present = Object.entries(environment).filter(
    ([name, value]) => value !== undefined && isPassed(name) && !value.startsWith("()"),
  );
  return Object.fromEntries(present) as Record<string, string>;
}

/**
 * Variables of a terminal, window or login, which a server does not need. `PATH` counts by the programs that it finds.
 */
const OF_SESSION = new RegExp(
  `^(?:${[
    "PATH|TERM|TERM_.*|COLORTERM|COLORFGBG|COLUMNS|LINES|NO_COLOR|FORCE_COLOR|CLICOLOR.*|LS_?COLORS|VTE_VERSION",
    "(?:ITERM|LC_TERMINAL|KITTY|WEZTERM|ALACRITTY|KONSOLE|GNOME_TERMINAL|GHOSTTY|TILIX|WT|CONEMU|ZELLIJ|TMUX)(?:_.*)?",
    "STY|WINDOW|WINDOWID|WINDOWPATH|TTY|GPG_TTY|SSH_TTY|SSH_CLIENT|SSH_CONNECTION|XDG_SESSION_.*|XDG_VTNR|XDG_SEAT",
    "XDG_ACTIVATION_TOKEN|DESKTOP_STARTUP_ID|GIO_LAUNCHED_.*|CHROME_DESKTOP|INVOCATION_ID|JOURNAL_STREAM",
    "SYSTEMD_EXEC_PID|MANAGERPID|MEMORY_PRESSURE_.*|PS\\d|PROMPT.*|HIST.*|EDITOR|VISUAL|PAGER|LESS.*|MAIL|MOTD_SHOWN",
  ].join("|")})$`,
  "i",
);
/** Variables that clients and package managers set about themselves. Keys among them still count. */
const OF_CLIENT =
  /^(?:npm_.*|INIT_CWD|NODE_COMPILE_CACHE|(?:VSCODE|CURSOR|ZED|WINDSURF|CLAUDE_CODE|GEMINI_CLI|QWEN_CODE|OPENCODE|COPILOT|KILO|CODEX|CLINE|GOOSE)_.*|CLAUDECODE|OPENCODE|QWEN_CODE|AGENT)$/i;

/** Variables that make servers of two clients differ, so that the clients cannot share a process. */
export function tellingVariables(environment: LaunchVariables): Record<string, string> {
  const passed = Object.entries(inherited(environment, "all"));
  return Object.fromEntries(
    passed.filter(([name]) => !OF_SESSION.test(name) && (!OF_CLIENT.test(name) || namesSecret(name))),
  );
}

// Linear: the closing brace bounds each match, and no part is ambiguous.
const VARIABLE = /\$\{([^{}]*)\}/g;
const NAME = /^(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s;
/**
 * Values that a person stores outside the config. VS Code asks for its inputs; here they are secrets of the same name.
 */
const SECRET = /^(?:secret|input|keychain):([A-Za-z0-9_][A-Za-z0-9_.-]*)$/;

/**
 * Replaces `${X}`, `${env:X}` and `${X:-default}` by their values, and `${secret:X}` and `${input:X}` by the variable
 * `secret:X`. Errors name the variable, never a value.
 *
 * @throws SERVER_CONFIG_INVALID
 */
export function expandVariables(label: string, text: string, variables: LaunchVariables): string {
  return text.replace(VARIABLE, (whole, inner: string) => {
    const [, secret] = SECRET.exec(inner) ?? [];
    if (secret !== undefined) {
      const value = variables[`secret:${secret}`];
      if (value !== undefined) return value;
      const reason = `the secret ${secret} is not set; keyhole secrets set ${secret} sets it`;
      throw invalid(label, reason, { secret });
    }
    const [, name, fallback] = NAME.exec(inner) ?? [];
    if (name === undefined) throw invalid(label, `${whole} is not a variable that can be filled in`);
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    if (value !== undefined && (value !== "" || fallback === undefined)) return value;
    if (fallback !== undefined) return fallback;
    throw invalid(label, `the variable ${name} is not set`, { variable: name });
  });
}

/** Expands all values of a record. */
export function expandAll(
  label: string,
  texts: Readonly<Record<string, string>>,
  variables: LaunchVariables,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, expandVariables(label, text, variables)]),
  );
}

/** Names of the secrets in texts within a value. */
export function secretNamesIn(value: unknown): string[] {
  const texts = JSON.stringify(value) ?? "";
  const names = [...texts.matchAll(VARIABLE)].flatMap(([, inner = ""]) => SECRET.exec(inner)?.[1] ?? []);
  return [...new Set(names)];
}

/** Names of the environment variables in texts within a value, or only of those without a default. */
export function variableNamesIn(value: unknown, isNeeded = false): string[] {
  const texts = JSON.stringify(value) ?? "";
  const names = [...texts.matchAll(VARIABLE)].flatMap(([, inner = ""]) => {
    const [, name, fallback] = NAME.exec(inner) ?? [];
    return name === undefined || (isNeeded && fallback !== undefined) ? [] : [name];
  });
  return [...new Set(names)].sort();
}

const MAX_BYTES = 1024 * 1024;

/** Variables that decide which code runs. Only the config may set them: consent does not cover the file's content. */
const DECIDES_CODE = new RegExp(
  `^(?:${[
    "PATH|PATHEXT|COMSPEC|IFS|ENV|BASH_ENV|BASH_FUNC.*|SHELLOPTS|PROMPT_COMMAND|LD_.*|DYLD_.*|GCONV_PATH",
    "NODE_OPTIONS|NODE_PATH|NPM_CONFIG_.*|PYTHON(?:PATH|HOME|STARTUP|BREAKPOINT|USERBASE|EXECUTABLE)",
    "(?:PIP|UV)_(?:INDEX.*|DEFAULT_INDEX|EXTRA_INDEX.*|FIND_LINKS|CONFIG_FILE|PYTHON.*)",
    "PERL5(?:LIB|OPT|DB)|PERLLIB|RUBY(?:OPT|LIB)|PHPRC|PHP_INI_SCAN_DIR|LUA_(?:INIT|PATH|CPATH).*",
    "JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|CLASSPATH|DOTNET_STARTUP_HOOKS|CORECLR_.*|COR_PROFILER.*",
    "GIT_(?:SSH.*|EXEC_PATH|CONFIG.*|PROXY_COMMAND|EXTERNAL_DIFF|PAGER|EDITOR|ASKPASS|TEMPLATE_DIR)",
  ].join("|")})$`,
  "i",
);

/**
 * Reads the variables of a server's `envFile`.
 *
 * @throws SERVER_CONFIG_INVALID if the file cannot be read, or sets a variable that decides which code runs.
 */
export function readVariables(label: string, path: string): Record<string, string> {
  const refuse = (what: string) => invalid(label, `its envFile ${path} ${what}`);
  const facts = statSync(path, { throwIfNoEntry: false });
  if (!facts?.isFile()) throw refuse("does not exist");
  if (facts.size > MAX_BYTES) throw refuse(`is larger than ${MAX_BYTES} bytes`);
  let env: Record<string, string>;
  try {
    env = { ...parseEnv(readFileSync(path, "utf8")) } as Record<string, string>;
  } catch (error) {
    throw refuse(`cannot be read: ${reasonOf(error)}`);
  }
  const deciding = Object.keys(env).find((name) => DECIDES_CODE.test(name));
  if (deciding !== undefined)
    throw refuse(`sets ${deciding}, which decides what runs; set it under env instead`);
  return env;
}
