import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { parseEnv } from "node:util";
import { reasonOf } from "../../../util/reason-of.ts";
import { expandVariables } from "./expand-variables.ts";
import { invalid, type ServerConfig } from "./server-config.ts";

const MAX_BYTES = 1024 * 1024;

/**
 * Variables that decide which code runs. Consent is bound to the config and not to the content of the file, so only
 * the config may set them.
 */
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

export interface EnvFileOptions {
  readonly label: string;
  readonly config: ServerConfig;
  readonly variables: Readonly<Record<string, string | undefined>>;
}

/**
 * Reads the variables of a server's `envFile`. A relative path starts at the folder of the process.
 *
 * @throws SERVER_CONFIG_INVALID if the file cannot be read, or sets a variable that decides what runs.
 */
export function readEnvFile(
  { label, config, variables }: EnvFileOptions,
  cwd = process.cwd(),
): Record<string, string> {
  if (config.transport !== "stdio" || config.envFile === undefined) return {};
  return readVariables(label, resolve(cwd, expandVariables(label, config.envFile, variables)));
}

/**
 * Reads a file of variables for a server.
 *
 * @throws SERVER_CONFIG_INVALID as {@link readEnvFile}.
 */
export function readVariables(label: string, path: string): Record<string, string> {
  const facts = statSync(path, { throwIfNoEntry: false });
  if (!facts?.isFile()) throw invalid(label, `its envFile ${path} does not exist`);
  if (facts.size > MAX_BYTES) throw invalid(label, `its envFile ${path} is larger than ${MAX_BYTES} bytes`);
  const env = parse(label, path);
  const deciding = Object.keys(env).find((name) => DECIDES_CODE.test(name));
  if (deciding !== undefined)
    throw invalid(
      label,
      `its envFile ${path} sets ${deciding}, which decides what runs; set it under env instead`,
    );
  return env;
}

function parse(label: string, path: string): Record<string, string> {
  try {
    return { ...parseEnv(readFileSync(path, "utf8")) } as Record<string, string>;
  } catch (error) {
    throw invalid(label, `its envFile ${path} cannot be read: ${reasonOf(error)}`);
  }
}
