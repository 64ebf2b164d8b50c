import { existsSync } from "node:fs";
import { registerHooks } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { DEFAULT_CONFIGS } from "../config/default-configs.ts";
import type { GatewayOptions } from "../gateway-api.ts";
import type { HttpOptions } from "../mcp/serve-http.ts";
import { problem } from "../schema/problem.ts";
import type { McpSource, McpSourceOptions } from "../sources/mcp/mcp-source.ts";
import { reasonOf } from "../util/reason-of.ts";
import { configInUse, defaultConfig, isJsonConfig, personalConfig } from "./config-in-use.ts";
import { openPins } from "./open-pins.ts";
import { setStateFolder } from "./user-folders.ts";
import { watchConfig } from "./watch-config.ts";

/** Every option of createGateway; the compiler asks for a new one here. */
const OPTIONS: Record<keyof Required<GatewayOptions>, true> = {
  domains: true,
  sources: true,
  principal: true,
  missingScope: true,
  approve: true,
  limits: true,
  learning: true,
  index: true,
  pins: true,
  sessions: true,
  results: true,
  audit: true,
  idempotency: true,
  approvals: true,
  recipes: true,
  cacheDirectory: true,
  clock: true,
};
const OPTION_NAMES = Object.keys(OPTIONS) as (keyof GatewayOptions)[];

export interface LoadedConfig {
  readonly options: GatewayOptions;
  readonly webhooks?: HttpOptions["webhooks"];
  /** Passes the sources on after each saved change of the config. Returns a function that stops it. */
  watch?(apply: (sources: McpSource[]) => Promise<void>): () => void;
}

export interface ConfigOptions {
  /** Starts the servers that a JSON config names now, and trusts the definitions of all its servers. */
  readonly trusted?: boolean;
  /** Further options of the servers that a JSON config names. */
  readonly servers?: Pick<McpSourceOptions, "environment" | "shared" | "limits">;
}

/**
 * Loads a config: a module that exports options of createGateway, or the JSON config of an MCP client. The folder's
 * own config is loaded only if a person trusts the folder. Without either it is the person's own settings.
 *
 * @throws CONFIG_INVALID if the file is missing, cannot be loaded, or has nothing to serve. CONFIG_NOT_TRUSTED
 */
export async function loadConfig(
  given: string | undefined,
  options: ConfigOptions = {},
): Promise<LoadedConfig> {
  const path = configInUse(given) ?? DEFAULT_CONFIGS[0]!;
  if (!existsSync(path)) throw problem("CONFIG_INVALID", { path, reason: "the file does not exist" });
  if (given === undefined && path !== personalConfig()) {
    const folder = process.cwd();
    const { askForTrust } = await import("./trust-folder.ts");
    if (!(await askForTrust(folder))) throw problem("CONFIG_NOT_TRUSTED", { path: resolve(path), folder });
  }
  return loadFile(path, options);
}

/** Like {@link loadConfig}, but without a named config and a default in a trusted folder the options are empty. */
export async function loadAnyConfig(
  given: string | undefined,
  isFolderTrusted: boolean,
  options: ConfigOptions = {},
): Promise<GatewayOptions> {
  const path = given ?? (isFolderTrusted ? defaultConfig() : undefined);
  if (path === undefined) return { domains: [] };
  return (await (given === undefined ? loadFile(path, options) : loadConfig(path, options))).options;
}

function loadFile(path: string, options: ConfigOptions): Promise<LoadedConfig> {
  setStateFolder();
  return isJsonConfig(path) ? loadJson(path, options) : loadModule(path);
}

/** Loads the JSON config of an MCP client. Starts nothing. */
export async function loadJson(
  path: string,
  { trusted = false, servers = {} }: ConfigOptions,
): Promise<LoadedConfig & { readonly sources: readonly McpSource[] }> {
  const [{ readJsonConfig, workspaceOf }, { serverOptions }] = await Promise.all([
    import("./read-json-config.ts"),
    import("./configured-servers.ts"),
  ]);
  const { mayStart, ...options } = { ...servers, ...serverOptions(trusted) };
  // The flag speaks for the servers of the file as the person knows it, not for those that are added later. A source
  // asks while it is made, so those of the first reading are named as they ask.
  const named = new Set<string>();
  let isNaming = trusted;
  const read = () =>
    readJsonConfig(path, {
      ...options,
      cwd: workspaceOf(path),
      mayStart: (program) => {
        if (isNaming) named.add(program.hash);
        return named.has(program.hash) || mayStart?.(program) === true;
      },
    });
  const sources = await read();
  isNaming = false;
  return {
    sources,
    options: { domains: [], sources, pins: openPins() },
    watch: (apply) =>
      watchConfig({
        path,
        read,
        apply,
        onFailure: (error) => console.error(`${reasonOf(error)} The last good config stays in use.`),
      }),
  };
}

/** Reads the options that a module exports by name. A person has named the module or trusted its folder. */
async function loadModule(path: string): Promise<LoadedConfig> {
  const exported = (await importModule(pathToFileURL(resolve(path)).href).catch((error: unknown) => {
    const reason = reasonOf(error);
    throw problem("CONFIG_INVALID", { path, reason });
  })) as Partial<GatewayOptions> & Pick<LoadedConfig, "webhooks">;
  const { domains = [], sources = [], webhooks } = exported;
  if (domains.length === 0 && sources.length === 0) {
    throw problem("CONFIG_INVALID", { path, reason: "it exports neither domains nor sources" });
  }
  const named = OPTION_NAMES.filter((name) => exported[name] !== undefined).map((name) => [
    name,
    exported[name],
  ]);
  const options: GatewayOptions = { domains, sources, pins: openPins(), ...Object.fromEntries(named) };
  return { options, ...(webhooks && { webhooks }) };
}

/** Imports a TypeScript file as an ES module also where package.json says otherwise, as `npm init` makes it. */
function importModule(url: string): Promise<object> {
  if (!url.endsWith(".ts")) return import(url);
  const hooks = registerHooks({
    load: (file, context, next) =>
      next(file, file === url ? { ...context, format: "module-typescript" } : context),
  });
  return import(url).finally(() => hooks.deregister());
}
