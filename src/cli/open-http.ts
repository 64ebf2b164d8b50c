import { localhostAllowedHostnames } from "@modelcontextprotocol/server";
import { principalOf } from "../access/agent-tokens.ts";
import type { Gateway } from "../gateway-api.ts";
import { type ConsoleServer, serveConsole } from "../http/serve-console.ts";
import type { McpServer } from "../mcp/mcp-server.ts";
import { problem } from "../schema/problem.ts";
import type { OpenedConfig } from "./open-config.ts";
import { openConsents } from "./open-consents.ts";
import { openTokens } from "./open-tokens.ts";
import { shownSettings } from "./shown-settings.ts";

export interface HttpArgs {
  readonly host?: string | undefined;
  readonly port?: string | undefined;
  readonly allowHosts: readonly string[];
}

/** Addresses that stand for all networks of the machine; clients address none of them. */
const WILDCARDS = ["0.0.0.0", "::", "[::]"];
const MAX_PORT = 65_535;

/**
 * Serves over HTTP, with the console, and tells where and with which token.
 *
 * @throws INVALID_INPUT, ADDRESS_UNAVAILABLE
 */
export async function openHttp(
  gateway: Gateway,
  server: McpServer,
  { host, port, allowHosts }: HttpArgs,
  { webhooks, loaded }: Pick<OpenedConfig, "webhooks" | "loaded">,
): Promise<ConsoleServer> {
  const token = process.env.KEYHOLE_TOKEN;
  const hosts = allowedHosts(host, allowHosts);
  const isOpen = host !== undefined && WILDCARDS.includes(host);
  const shown = (url: string) => (isOpen ? named(url, allowHosts[0] ?? "localhost") : url);
  const tokens = openTokens();
  const http = await serveConsole(gateway, server, {
    ...(host && { host }),
    ...(port && { port: readPort(port) }),
    ...(token && { token }),
    ...(webhooks && { webhooks }),
    allowedHosts: hosts,
    allowedOrigins: hosts,
    tokens,
    principals: () => tokens.list().map(principalOf),
    consents: openConsents(),
    settings: async () => shownSettings(loaded),
    onOpened: (link) => console.log(`The console was opened. For another browser, once: ${shown(link)}`),
  });
  console.log(`Keyhole listens at ${shown(http.url)}`);
  if (http.token) console.log(`Token, shown once: ${http.token}`);
  console.log(`Console, opens once: ${shown(http.consoleLink)}`);
  if (isOpen && allowHosts.length === 0)
    console.log(
      "Only this machine can use it yet: --allow-host NAME names the host that clients call it by.",
    );
  return http;
}

/** The host names that requests may be addressed to: those of this machine, the address itself, and the named ones. */
export function allowedHosts(host: string | undefined, allowHosts: readonly string[]): string[] {
  const own = host === undefined || WILDCARDS.includes(host) ? [] : [host];
  const given = [...own, ...allowHosts].map((name) => {
    const text = name.includes(":") && !name.startsWith("[") ? `[${name}]` : name;
    const url = URL.parse(`http://${text}`);
    if (url?.host && url.host === url.hostname && url.pathname === "/" && !/[/?#@]/.test(text))
      return url.hostname;
    throw invalid("--allow-host takes a host name without a port");
  });
  return [...new Set([...localhostAllowedHostnames(), ...given])];
}

function readPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= MAX_PORT) return port;
  throw invalid(`--port is a number up to ${MAX_PORT}`);
}

function named(url: string, host: string): string {
  const shown = new URL(url);
  shown.hostname = host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
  return shown.href;
}

function invalid(reason: string) {
  return problem("INVALID_INPUT", { operation: "serve", reason });
}
