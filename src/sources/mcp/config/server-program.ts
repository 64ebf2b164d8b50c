import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { delimiter, isAbsolute, resolve, win32 } from "node:path";
import { problem } from "../../../base/problems/problem.ts";
import { contentHash } from "../../../base/util/content-hash.ts";
import type { ServerProcess, ServerProgram } from "../../../core/nouns/server-program.ts";
import type { IsolatedServer } from "../../isolation/propose-limits.ts";
import { isPersonal, type ServerConfig, type StdioConfig } from "./server-config.ts";
import { expandVariables, type LaunchOptions, tellingVariables, toLaunch } from "./to-launch.ts";

type ProgramOptions = Omit<LaunchOptions, "label">;

/** Parts that do not affect a server's definitions. */
const APART = { env: {}, envFile: "", headers: {}, oauth: {}, login: "", sandbox: {} };

/** Describes what a server runs, with two hashes. Looks up the command, starts nothing. */
export function toServerProgram(label: string, config: ServerConfig, options: ProgramOptions): ServerProgram {
  const runs =
    config.transport === "http"
      ? {
          url: config.url,
          headers: config.headers,
          ...(config.oauth && { oauth: config.oauth }),
          // The default login is left out, so that consents older than this field stay valid.
          ...(isPersonal(config) && { login: config.login }),
        }
      : toProcess(label, config, options);
  return {
    label,
    runs,
    // Lazy: each reader needs one of the hashes, and a start reads many servers.
    get hash() {
      return hashOf(runs);
    },
    get identity() {
      const {
        env: _,
        envFile: __,
        headers: ___,
        oauth: ____,
        login: _____,
        sandbox: ______,
        ...program
      } = {
        ...APART,
        ...runs,
      };
      return hashOf(program);
    },
  };
}

/**
 * Equal for servers that can share a process: everything relevant to a server without a terminal is the same.
 *
 * @throws SERVER_CONFIG_INVALID
 */
export function processKey(config: StdioConfig, options: LaunchOptions): string {
  const { env, ...launch } = toLimitedLaunch(config, options);
  const declared = Object.keys(config.env).map((name) => [name, env[name]]);
  const telling = { ...tellingVariables(env), ...Object.fromEntries(declared) };
  return hashOf([launch, toProcess(options.label, config, options).path, telling]);
}

/**
 * Like {@link toLaunch}, with the limits that a person accepted if the config has none.
 *
 * @throws SERVER_CONFIG_INVALID
 */
export function toLimitedLaunch(config: StdioConfig, options: LaunchOptions) {
  const { label, isolation: { accepted, onHost, isTrial } = {} } = options;
  const program = toServerProgram(label, config, options);
  const sandbox = config.sandbox ?? accepted?.(program);
  const launch = toLaunch(sandbox === undefined ? config : { ...config, sandbox }, options);
  const isNoted = onHost && (isTrial || typeof launch.isolation?.network === "object");
  if (!launch.isolation || !isNoted) return launch;
  const note = (host: string, isListed: boolean) => onHost(program, host, isListed);
  return { ...launch, isolation: { ...launch.isolation, onHost: note } };
}

/** A server's process with its limits. Undefined if it has none. */
export function toIsolatedServer(config: ServerConfig, options: LaunchOptions): IsolatedServer | undefined {
  if (config.transport === "http") return undefined;
  try {
    const { command, args, env, cwd = "", isolation } = toLimitedLaunch(config, options);
    const texts = [...args, ...Object.keys(config.env).map((name) => env[name]!)];
    return isolation && { program: { command, args, env, cwd: resolve(cwd) }, isolation, texts };
  } catch {
    // The start will report the missing variable.
    return undefined;
  }
}

function toProcess(
  label: string,
  config: StdioConfig,
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
  const { command, args, env, envFile, sandbox, container } = config;
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
    ...(sandbox !== undefined && { sandbox }),
    ...(container !== undefined && { container }),
  };
}

/** Finds a command like the system would. Undefined if it is not found. */
export function findCommand(command: string, searched: string, cwd: string): string | undefined {
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

const isProgram = memoizeForTick((path) => {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
});

const realFolder = memoizeForTick((folder) => {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
});

function hashOf(value: unknown): string {
  return contentHash(JSON.parse(JSON.stringify(value)));
}

/** Caches for one turn of the event loop: a start with many servers looks up the same files repeatedly. */
function memoizeForTick<Value>(look: (key: string) => Value): (key: string) => Value {
  const results = new Map<string, Value>();
  return (key) => {
    if (!results.has(key)) {
      if (results.size === 0) setImmediate(() => results.clear());
      results.set(key, look(key));
    }
    return results.get(key) as Value;
  };
}

interface WindowsPlace {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  isFile(path: string): boolean;
}

const ENDINGS = ".COM;.EXE;.BAT;.CMD";
/** Characters with a meaning for cmd.exe. */
const META = /([()\][%!^"`<>&|;, *?])/g;

/**
 * Builds the command line for a program on Windows. Shims such as `npx.cmd` are scripts that only cmd.exe can run. It
 * parses its line by its own rules, so their arguments are quoted for both (`isVerbatim`).
 *
 * @throws UPSTREAM_LOST for an argument with a line break, which cmd.exe does not accept.
 */
export function toWindowsCommand(
  label: string,
  command: string,
  args: readonly string[],
  place: WindowsPlace,
) {
  const path = findWindowsProgram(command, place);
  if (path === undefined || !/\.(?:cmd|bat)$/i.test(path))
    return { command: path ?? command, args, isVerbatim: false };
  if ([path, ...args].some((word) => /[\r\n\0]/.test(word))) {
    const reason = "an argument of its .cmd file has a line break";
    throw problem("UPSTREAM_LOST", { server: label, reason }, { reason });
  }
  // npm's shims pass their arguments to another cmd line, which processes escapes a second time.
  const isShim = /[\\/]node_modules[\\/]\.bin[\\/]|[\\/](?:npx|npm|pnpm|yarn|uvx)\.cmd$/i.test(path);
  const words = args.map((word) => quoted(word, isShim));
  const line = [win32.normalize(path).replace(META, "^$1"), ...words].join(" ");
  const shell = variable(place.env, "ComSpec") ?? "cmd.exe";
  return { command: shell, args: ["/d", "/s", "/c", `"${line}"`], isVerbatim: true };
}

/** Finds a command like Windows: in the folder, then on the Path, with each ending of PATHEXT. */
export function findWindowsProgram(command: string, { env, cwd, isFile }: WindowsPlace): string | undefined {
  const endings = (variable(env, "PATHEXT") || ENDINGS).split(";").filter(Boolean);
  const hasEnding = endings.some((ending) => command.toLowerCase().endsWith(ending.toLowerCase()));
  const names = [...(hasEnding ? [command] : []), ...endings.map((ending) => command + ending.toLowerCase())];
  const folders = /[\\/]/.test(command) ? [cwd] : (variable(env, "Path") ?? "").split(";").filter(Boolean);
  for (const folder of folders) {
    for (const name of names) {
      const path = win32.resolve(cwd, folder, name);
      if (isFile(path)) return path;
    }
  }
  return undefined;
}

/** Windows ignores case in variable names, but copies of the environment do not. */
function variable(env: WindowsPlace["env"], name: string): string | undefined {
  const spelling = Object.keys(env).find((key) => key.toLowerCase() === name.toLowerCase());
  return spelling === undefined ? undefined : env[spelling];
}

/** Quotes for programs (backslashes before quotes double), then escapes for cmd.exe. */
function quoted(word: string, isShim: boolean): string {
  const inner = word.replace(/(\\*)"/g, '$1$1\\"').replace(/(\\*)$/, "$1$1");
  const once = `"${inner}"`.replace(META, "^$1");
  return isShim ? once.replace(META, "^$1") : once;
}
