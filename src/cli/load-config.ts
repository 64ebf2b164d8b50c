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

const DEFAULT_CONFIGS = ["keyhole.config.ts", "keyhole.config.js", "keyhole.config.mjs"];

export interface LoadedConfig {
  readonly options: GatewayOptions;
  readonly webhooks?: HttpOptions["webhooks"];
  /** Lets the gateway follow what is saved to the config; the answer stops it. */
  watch?(gateway: Gateway): () => void;
}

export interface ConfigOptions {
  /** Takes what the servers of a JSON config define, without approval. */
  readonly trusted?: boolean;
}

/** Reads a module of the user's own, or a JSON config as MCP clients have it. */
export async function loadConfig(
  given: string | undefined,
  { trusted = false }: ConfigOptions = {},
): Promise<LoadedConfig> {
  setStateFolder();
  const path = given ?? DEFAULT_CONFIGS.find((file) => existsSync(file)) ?? DEFAULT_CONFIGS[0]!;
  if (!existsSync(path)) throw problem("CONFIG_INVALID", { path, reason: "there is no such file" });
  return /\.jsonc?$/i.test(path) ? loadJson(path, trusted) : loadModule(path, given);
}

/** Likewise; nothing where none is named and there is none here. */
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
        onFailure: (error) => console.error(`${reasonOf(error)} The last good one stays.`),
      }),
  };
}

/** The gateway options that a module exports by their names. It is code of the user's own, and runs as such. */
async function loadModule(path: string, given: string | undefined): Promise<LoadedConfig> {
  const exported = (await import(pathToFileURL(resolve(path)).href).catch((error: unknown) => {
    const reason = reasonOf(error);
    throw problem("CONFIG_INVALID", { path, reason });
  })) as Partial<GatewayOptions> & Pick<LoadedConfig, "webhooks">;
  const {
    domains = [],
    sources = [],
    principal,
    approve,
    limits,
    pins = openPins(given),
    webhooks,
  } = exported;
  if (domains.length === 0 && sources.length === 0) {
    throw problem("CONFIG_INVALID", { path, reason: "it exports neither domains nor sources" });
  }
  const options: GatewayOptions = {
    domains,
    sources,
    ...(principal && { principal }),
    ...(approve && { approve }),
    ...(limits && { limits }),
    pins,
  };
  return { options, ...(webhooks && { webhooks }) };
}
