import { resolve } from "node:path";
import { problem } from "../../base/problems/problem.ts";
import { importModule } from "../../base/util/import-module.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import type { HttpOptions } from "../../faces/mcp/serve-http.ts";
import type { GatewayOptions } from "../../gateway/gateway-api.ts";

/** Every option of createGateway; the compiler asks for a new one here. */
const OPTIONS: Record<keyof Required<GatewayOptions>, true> = {
  name: true,
  domains: true,
  sources: true,
  principal: true,
  missingScope: true,
  approve: true,
  ask: true,
  askAfterInjection: true,
  limits: true,
  learning: true,
  index: true,
  pins: true,
  storage: true,
  sessions: true,
  results: true,
  resultFiles: true,
  audit: true,
  idempotency: true,
  approvals: true,
  recipes: true,
  cacheDirectory: true,
  clock: true,
};
const OPTION_NAMES = Object.keys(OPTIONS) as (keyof GatewayOptions)[];

/**
 * Reads the options that a module exports by name. A person has named the module or trusted its folder.
 *
 * @throws CONFIG_INVALID if it cannot be loaded, or has nothing to serve.
 */
export async function loadModule(path: string) {
  const exported = (await importModule(resolve(path)).catch((error: unknown) => {
    const reason = reasonOf(error);
    throw problem("CONFIG_INVALID", {
      path,
      reason,
      step: "Correct the module: it has to load without an error.",
    });
  })) as Partial<GatewayOptions> & Pick<HttpOptions, "webhooks">;
  const { domains = [], sources = [], webhooks } = exported;
  if (domains.length === 0 && sources.length === 0) {
    const step = "Export domains (made with defineDomain) or sources by name.";
    throw problem("CONFIG_INVALID", { path, reason: "it exports neither domains nor sources", step });
  }
  const named = OPTION_NAMES.filter((name) => exported[name] !== undefined).map((name) => [
    name,
    exported[name],
  ]);
  const options: GatewayOptions = { domains, sources, ...Object.fromEntries(named) };
  return { options, ...(webhooks && { webhooks }) };
}
