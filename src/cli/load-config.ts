import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { GatewayOptions } from "../gateway.ts";
import { problem } from "../schema/problem.ts";
import { reasonOf } from "../util/reason-of.ts";

const DEFAULTS = ["keyhole.config.ts", "keyhole.config.js", "keyhole.config.mjs"];

/** The gateway options that a module exports by their names. It is code of the user's own, and runs as such. */
export async function loadConfig(given: string | undefined): Promise<GatewayOptions> {
  const path = given ?? DEFAULTS.find((file) => existsSync(file)) ?? DEFAULTS[0]!;
  const file = resolve(path);
  if (!existsSync(file)) throw problem("CONFIG_INVALID", { path, reason: "there is no such file" });
  const exported = (await import(pathToFileURL(file).href).catch((error: unknown) => {
    const reason = reasonOf(error);
    throw problem("CONFIG_INVALID", { path, reason });
  })) as Partial<GatewayOptions>;
  const { domains = [], sources = [], principal, approve, limits } = exported;
  if (domains.length === 0 && sources.length === 0) {
    throw problem("CONFIG_INVALID", { path, reason: "it exports neither domains nor sources" });
  }
  return {
    domains,
    sources,
    ...(principal && { principal }),
    ...(approve && { approve }),
    ...(limits && { limits }),
  };
}
