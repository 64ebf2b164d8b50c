import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Gateway, GatewayOptions } from "../gateway-api.ts";
import type { HttpOptions } from "../mcp/serve-http.ts";
import { problem } from "../schema/problem.ts";
import { reasonOf } from "../util/reason-of.ts";
import { openPins } from "./open-pins.ts";
import { cacheFolder, setStateFolder } from "./user-folders.ts";
import { watchConfig } from "./watch-config.ts";

/** Every option of createGateway; the compiler asks for a new one here. */
const OPTIONS: Record<keyof Required<GatewayOptions>, true> = {
  domains: true,
  sources: true,
  principal: true,
  approve: true,
  limits: true,
  learning: true,
  index: true,
  pins: true,
  sessions: true,
  results: true,
  cacheDirectory: true,
  clock: true,
};
const OPTION_NAMES = Object.keys(OPTIONS) as (keyof GatewayOptions)[];
const DEFAULT_CONFIGS = ["keyhole.config.ts", "keyhole.config.js", "keyhole.config.mjs"];

export interface LoadedConfig {
  readonly options: GatewayOptions;
  readonly webhooks?: HttpOptions["webhooks"];
  /** Applies each saved change of the config to the gateway. Returns a function that stops it. */
  watch?(gateway: Gateway): () => void;
}

export interface ConfigOptions {
  /** Trusts the definitions of a JSON config's servers without approval. */
  readonly trusted?: boolean;
}

/**
 * Loads a config: a module that exports options of createGateway, or the JSON config of an MCP client.
 *
 * @throws CONFIG_INVALID if the file is missing, cannot be loaded, or has nothing to serve.
 */
export async function loadConfig(
  given: string | undefined,
  { trusted = false }: ConfigOptions = {},
): Promise<LoadedConfig> {
  setStateFolder();
  const path = given ?? DEFAULT_CONFIGS.find((file) => existsSync(file)) ?? DEFAULT_CONFIGS[0]!;
  if (!existsSync(path)) throw problem("CONFIG_INVALID", { path, reason: "the file does not exist" });
  return /\.jsonc?$/i.test(path) ? loadJson(path, trusted) : loadModule(path, given);
}

/** Like {@link loadConfig}, but without a named or default config the options are empty. */
export async function loadAnyConfig(
  given: string | undefined,
  options: ConfigOptions = {},
): Promise<GatewayOptions> {
  if (given === undefined && !DEFAULT_CONFIGS.some((file) => existsSync(file))) return { domains: [] };
  return (await loadConfig(given, options)).options;
}

async function loadJson(path: string, trusted: boolean): Promise<LoadedConfig> {
  const { readJsonConfig } = await import("./read-json-config.ts");
  const read = () => readJsonConfig(path, { cacheDirectory: join(cacheFolder(), "listings"), trusted });
  return {
    options: {
      domains: [],
      sources: await read(),
      pins: openPins(path),
    },
    watch: (gateway) =>
      watchConfig({
        path,
        read,
        apply: gateway.sources.set,
        onFailure: (error) => console.error(`${reasonOf(error)} The last good config stays in use.`),
      }),
  };
}

/** Reads the options that a module exports by name. The module is the user's own code and runs as such. */
async function loadModule(path: string, given: string | undefined): Promise<LoadedConfig> {
  const exported = (await import(pathToFileURL(resolve(path)).href).catch((error: unknown) => {
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
  const options: GatewayOptions = { domains, sources, pins: openPins(given), ...Object.fromEntries(named) };
  return { options, ...(webhooks && { webhooks }) };
}
