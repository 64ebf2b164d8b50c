import { localhostAllowedHostnames } from "@modelcontextprotocol/server";
import { problem } from "../../base/problems/problem.ts";
import { createRedact } from "../../base/safety/redact.ts";
import { field, isPlainObject } from "../../base/util/plain-object.ts";
import type { ShownSetting } from "../../faces/http/endpoints/api-types.ts";
import type { AgentKeys } from "../../faces/http/endpoints/console-parts.ts";
import { type ConsoleServer, serveConsole } from "../../faces/http/serve-console.ts";
import type { McpServer } from "../../faces/mcp/mcp-server.ts";
import type { Gateway } from "../../gateway/gateway-api.ts";
import { invalid } from "../terminal/define-command.ts";
import { AGENT_NAME, addAgentKey, readExpiry, revokeAgentKey } from "./agent-keys.ts";
import { principalOf } from "./agent-tokens.ts";
import { isJsonConfig } from "./config-files.ts";
import { consoleFile, wayOf } from "./console-file.ts";
import { createServerEditor } from "./edit-servers.ts";
import type { LoadedSettings, SettingsSource } from "./load-settings.ts";
import type { OpenedConfig } from "./open-config.ts";
import { SECRET_KEYS, secretsOf } from "./settings-schema.ts";
import { openAcceptedLimits, openConsents, openTokens } from "./stores.ts";
import { ownConfig } from "./user-folders.ts";

export interface HttpArgs {
  readonly host: string | undefined;
  readonly port: number | undefined;
  /** Host names that clients may use, beside those of this machine. */
  readonly allowHost: readonly string[];
}

/** Addresses that stand for all networks of the machine; clients address none of them. */
const WILDCARDS = ["0.0.0.0", "::", "[::]"];

/** A listening server, and the lines that tell its address, its token and the link of the console. */
export interface OpenedHttp extends Pick<ConsoleServer, "close"> {
  readonly address: readonly string[];
}

/**
 * Serves over HTTP, with the console.
 *
 * @throws INVALID_INPUT, ADDRESS_UNAVAILABLE
 */
export async function openHttp(
  gateway: Gateway,
  server: McpServer,
  { host, port, allowHost: allowHosts }: HttpArgs,
  { webhooks, loaded, config }: Pick<OpenedConfig, "webhooks" | "loaded" | "config">,
): Promise<OpenedHttp> {
  const token = process.env.KEYHOLE_TOKEN;
  const hosts = allowedHosts(host, allowHosts);
  const isOpen = host !== undefined && WILDCARDS.includes(host);
  const shown = (url: string) => (isOpen ? named(url, allowHosts[0] ?? "localhost") : url);
  const { tokens, ...parts } = consoleParts(loaded, config);
  const http = await serveConsole(gateway, server, {
    ...parts,
    tokens,
    ...(host && { host }),
    ...(port && { port }),
    ...(token && { token }),
    ...(webhooks && { webhooks }),
    allowedHosts: hosts,
    allowedOrigins: hosts,
    onOpened: (link) => console.log(`The console was opened. For another browser, once: ${shown(link)}`),
  });
  if (isOpen && allowHosts.length === 0)
    console.log(
      "Only this machine can use it yet: --allow-host NAME names the host that clients call it by.",
    );
  return {
    close: () => http.close(),
    address: [
      `Keyhole listens at ${shown(http.url)}`,
      ...(http.token ? [`Token, shown once: ${http.token}`] : []),
      `Console, opens once: ${shown(http.consoleLink)}`,
    ],
  };
}

/** The parts that a console of this person works with. */
export function consoleParts(loaded: LoadedSettings, config: string | undefined) {
  const tokens = openTokens();
  return {
    tokens,
    principals: () => tokens.list().map(principalOf),
    consents: openConsents(),
    acceptedLimits: openAcceptedLimits(),
    agents: agentKeys(tokens),
    // A module is code, which nobody but its author changes.
    ...((config === undefined || isJsonConfig(config)) && {
      editor: createServerEditor(config ?? ownConfig()),
    }),
    file: consoleFile(),
    wayOf,
    settings: async () => shownSettings(loaded),
  };
}

function agentKeys(tokens: ReturnType<typeof openTokens>): AgentKeys {
  return {
    list: tokens.list,
    add: async ({ expires, ...wanted }, by) => {
      const expiresAt = expires.trim() === "" ? undefined : readExpiry(expires, Date.now());
      const wrong = (reason: string) => problem("INVALID_INPUT", { operation: "The key", reason });
      if (!AGENT_NAME.test(wanted.name))
        throw wrong("a name has letters, digits, dots, hyphens and underscores");
      if (expires.trim() !== "" && expiresAt === undefined)
        throw wrong("it ends at a time from now, such as 30d, or at a date to come, such as 2027-01-31");
      const key = await addAgentKey(
        tokens,
        { ...wanted, scopes: [...wanted.scopes], ...(expiresAt !== undefined && { expiresAt }) },
        by,
      );
      if (key === undefined) throw wrong(`the agent ${wanted.name} exists; revoke its key first`);
      return key;
    },
    revoke: (name, by) => revokeAgentKey(tokens, name, by),
  };
}

/** The host names that requests may be addressed to: those of this machine, the address itself, and the named ones. */
export function allowedHosts(host: string | undefined, allowHosts: readonly string[]): string[] {
  const own = host === undefined || WILDCARDS.includes(host) ? [] : [host];
  const given = [...own, ...allowHosts].map((name) => {
    const text = name.includes(":") && !name.startsWith("[") ? `[${name}]` : name;
    const url = URL.parse(`http://${text}`);
    if (url?.host && url.host === url.hostname && url.pathname === "/" && !/[/?#@]/.test(text))
      return url.hostname;
    throw invalid("serve", "--allow-host takes a host name without a port");
  });
  return [...new Set([...localhostAllowedHostnames(), ...given])];
}

function named(url: string, host: string): string {
  const shown = new URL(url);
  shown.hostname = host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
  return shown.href;
}

/** Fields whose values may be secret whatever they look like: only their names are shown. */
const NAMES_ONLY = new Set(["env", "headers", "oauth"]);

/** The settings in effect, each with the file or variable that it comes from. */
export function shownSettings({ settings, sources }: LoadedSettings): readonly ShownSetting[] {
  const redact = createRedact(secretsOf(settings));
  const strongestFirst = [...sources].reverse();
  return [...leaves(settings, [])].map(([path, value]) => ({
    name: path.join("."),
    value: redact(value),
    from: originOf(path, strongestFirst),
  }));
}

function* leaves(value: unknown, path: readonly string[]): Generator<[readonly string[], unknown]> {
  const name = path.at(-1) ?? "";
  if (SECRET_KEYS.has(name)) return yield [path, value ? "(set)" : ""];
  if (NAMES_ONLY.has(name) && isPlainObject(value)) return yield [path, Object.keys(value)];
  if (!isPlainObject(value)) return yield [path, value];
  for (const [key, part] of Object.entries(value)) yield* leaves(part, [...path, key]);
}

/** The strongest source that names the setting, or something within it. */
function originOf(path: readonly string[], strongestFirst: readonly SettingsSource[]): string {
  const found = strongestFirst.find(({ value }) => path.reduce<unknown>(field, value) !== undefined);
  if (!found) return "default";
  return found.from === "environment" ? `environment: ${found.path}` : found.path;
}
