import { localhostAllowedHostnames } from "@modelcontextprotocol/server";
import type { McpServer } from "../mcp/mcp-server.ts";
import { type HttpServer, serveHttp } from "../mcp/serve-http.ts";
import { problem } from "../schema/problem.ts";
import type { LoadedConfig } from "./load-config.ts";
import { openTokens } from "./open-tokens.ts";

export interface HttpArgs {
  readonly host?: string | undefined;
  readonly port?: string | undefined;
  readonly allowHosts: readonly string[];
}

/** Addresses that stand for all networks of the machine; clients address none of them. */
const WILDCARDS = ["0.0.0.0", "::", "[::]"];
const MAX_PORT = 65_535;

/**
 * Serves over HTTP and tells where, and with which token.
 *
 * @throws INVALID_INPUT, ADDRESS_UNAVAILABLE
 */
export async function openHttp(
  server: McpServer,
  { host, port, allowHosts }: HttpArgs,
  { webhooks }: LoadedConfig,
): Promise<HttpServer> {
  const token = process.env.KEYHOLE_TOKEN;
  const hosts = allowedHosts(host, allowHosts);
  const http = await serveHttp(server, {
    ...(host && { host }),
    ...(port && { port: readPort(port) }),
    ...(token && { token }),
    ...(webhooks && { webhooks }),
    allowedHosts: hosts,
    allowedOrigins: hosts,
    tokens: openTokens(),
  });
  const isOpen = host !== undefined && WILDCARDS.includes(host);
  console.log(`Keyhole listens at ${isOpen ? named(http.url, allowHosts[0] ?? "localhost") : http.url}`);
  if (http.token) console.log(`Token, shown once: ${http.token}`);
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
