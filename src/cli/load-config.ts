import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Gateway, GatewayOptions } from "../gateway-api.ts";
import type { HttpOptions } from "../mcp/serve-http.ts";
import { problem } from "../schema/problem.ts";
import { reasonOf } from "../util/reason-of.ts";
import { cacheFolder, setStateFolder } from "./user-folders.ts";
import { watchConfig } from "./watch-config.ts";

export const DEFAULT_CONFIGS = ["keyhole.config.ts", "keyhole.config.js", "keyhole.config.mjs"];

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
  const stateFolder = setStateFolder();
  const path = given ?? DEFAULT_CONFIGS.find((file) => existsSync(file)) ?? DEFAULT_CONFIGS[0]!;
  if (!existsSync(path)) throw problem("CONFIG_INVALID", { path, reason: "there is no such file" });
  return /\.jsonc?$/i.test(path) ? loadJson(path, stateFolder, trusted) : loadModule(path);
}

async function loadJson(path: string, stateFolder: string, trusted: boolean): Promise<LoadedConfig> {
  const [{ readJsonConfig }, { createPins }] = await Promise.all([
    import("./read-json-config.ts"),
    import("../access/pins.ts"),
  ]);
  const read = () => readJsonConfig(path, { cacheDirectory: join(cacheFolder(), "listings"), trusted });
  return {
    options: {
      domains: [],
      sources: await read(),
      pins: createPins({ path: join(stateFolder, "pins.json") }),
    },
    watch: (gateway) =>
      watchConfig({
        path,
        read,
        apply: gateway.setSources,
        onFailure: (error) => console.error(`${reasonOf(error)} The last good one stays.`),
      }),
  };
}

/** The gateway options that a module exports by their names. It is code of the user's own, and runs as such. */
async function loadModule(path: string): Promise<LoadedConfig> {
  const exported = (await import(pathToFileURL(resolve(path)).href).catch((error: unknown) => {
    const reason = reasonOf(error);
    throw problem("CONFIG_INVALID", { path, reason });
  })) as Partial<GatewayOptions> & Pick<LoadedConfig, "webhooks">;
  const { domains = [], sources = [], principal, approve, limits, pins, webhooks } = exported;
  if (domains.length === 0 && sources.length === 0) {
    throw problem("CONFIG_INVALID", { path, reason: "it exports neither domains nor sources" });
  }
  const options: GatewayOptions = {
    domains,
    sources,
    ...(principal && { principal }),
    ...(approve && { approve }),
    ...(limits && { limits }),
    ...(pins && { pins }),
  };
  return { options, ...(webhooks && { webhooks }) };
}
