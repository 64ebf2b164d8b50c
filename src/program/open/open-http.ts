import { localhostAllowedHostnames } from "@modelcontextprotocol/server";
import { problem } from "../../base/problems/problem.ts";
import { createRedact } from "../../base/safety/redact.ts";
import { field, isPlainObject } from "../../base/util/plain-object.ts";
import type { ShownSetting } from "../../faces/http/endpoints/api-types.ts";
import type { AgentKeys } from "../../faces/http/endpoints/console-parts.ts";
import {
  type ConsoleOptions,
  type ConsoleServer,
  type ConsoleState,
  startConsole,
} from "../../faces/http/serve-console.ts";
import type { McpServer } from "../../faces/mcp/mcp-server.ts";
import type { ServedProfiles } from "../../faces/mcp/profiles.ts";
import type { Gateway } from "../../gateway/gateway-api.ts";
import { invalid } from "../terminal/define-command.ts";
import { AGENT_NAME, addAgentKey, readExpiry, revokeAgentKey } from "./agent-keys.ts";
import { principalOf } from "./agent-tokens.ts";
import { isJsonConfig } from "./config-files.ts";
import { consoleFile, wayOf } from "./console-file.ts";
import { createServerEditor } from "./edit-servers.ts";
import type { LoadedSettings, SettingsSource } from "./load-settings.ts";
import type { OpenedConfig } from "./open-config.ts";
import { openLogins } from "./open-logins.ts";
import { groupPrincipals, readPeople, tellObstacles, toLogin, toOAuth } from "./people.ts";
import { withSecrets } from "./secrets.ts";
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
export interface OpenedHttp extends Pick<ConsoleServer, "close" | "drain"> {
  readonly address: readonly string[];
}

/** Calls of a replica have most of the 30 seconds that orchestrators give a process to end. */
const DRAIN_MS = 25_000;

type ServedConfig = Pick<OpenedConfig, "webhooks" | "loaded" | "config" | "state"> & {
  readonly profiles: ServedProfiles;
};

/**
 * Serves over HTTP, with the console.
 *
 * @throws INVALID_INPUT, ADDRESS_UNAVAILABLE
 */
export async function openHttp(
  gateway: Gateway,
  server: McpServer,
  { host, port, allowHost }: HttpArgs,
  { webhooks, profiles, ...opened }: ServedConfig,
): Promise<OpenedHttp> {
  const { loaded, config, state } = opened;
  const token = process.env.KEYHOLE_TOKEN;
  const variables = withSecrets(process.env);
  const people = readPeople(loaded.settings.people, config ?? ownConfig(), variables);
  const login = people && toLogin(people);
  const publicUrl = loaded.settings.publicUrl ?? people?.audience;
  const allowHosts = [...allowHost, ...(publicUrl === undefined ? [] : [new URL(publicUrl).hostname])];
  const hosts = allowedHosts(host, allowHosts);
  const isOpen = host !== undefined && WILDCARDS.includes(host);
  const shown = (url: string) => (isOpen ? withHost(url, allowHosts[0] ?? "localhost") : url);
  const { links } = openLogins(loaded.settings, variables, state?.storage);
  const { tokens, principals, ...parts } = await consoleParts(opened);
  const options: ConsoleOptions = {
    ...parts,
    tokens,
    principals: async () => [
      ...(await principals()),
      ...(people ? groupPrincipals(people) : []),
      ...profiles
        .names()
        .map((profile) => ({ id: `profile:${profile}`, scopes: [], allowWrite: false, profile })),
    ],
    ...(host && { host }),
    ...(port && { port }),
    ...(token && { token }),
    ...(webhooks && { webhooks }),
    ...(people && { oauth: toOAuth(people) }),
    ...(links && { logins: { links } }),
    ...(state && { drainMs: DRAIN_MS }),
    allowedHosts: hosts,
    allowedOrigins: hosts,
    onOpened: (link) => console.log(`The console was opened. For another browser, once: ${shown(link)}`),
  };
  const http = await startConsole(gateway, server, options, {
    ...consoleState(opened),
    ...{ login, profiles },
  });
  if (people) tellObstacles(people, profiles);
  links?.serveAt(new URL(publicUrl ?? shown(http.url)).origin);
  if (isOpen && allowHosts.length === 0)
    console.log(
      "Only this machine can use it yet: --allow-host NAME names the host that clients call it by.",
    );
  return {
    close: () => http.close(),
    drain: () => http.drain(),
    address: [
      `Keyhole listens at ${shown(http.url)}`,
      ...(people ? [`People log in at ${people.issuer}, with clients of ${people.audience}`] : []),
      ...(http.token ? [`Token, shown once: ${http.token}`] : []),
      login ? `Console: ${http.consoleLink}` : `Console, opens once: ${shown(http.consoleLink)}`,
    ],
  };
}

/** The settings of the console in the config: where it keeps logins and figures, and prices. */
export function consoleState({ loaded, state }: Pick<OpenedConfig, "loaded" | "state">): ConsoleState {
  return { records: state?.records, prices: loaded.settings.limits?.prices };
}

/** The parts that a console of this person works with. */
export async function consoleParts({
  loaded,
  config,
  state,
}: Pick<OpenedConfig, "loaded" | "config" | "state">) {
  const tokens = openTokens(state);
  return {
    tokens,
    principals: async () => (await tokens.list()).map(principalOf),
    consents: openConsents(state),
    acceptedLimits: await openAcceptedLimits(state),
    agents: agentKeys(tokens, state),
    // A module is code, which nobody but its author changes.
    ...((config === undefined || isJsonConfig(config)) && {
      editor: createServerEditor(config ?? ownConfig()),
    }),
    file: consoleFile(),
    wayOf,
    settings: async () => shownSettings(loaded),
  };
}

function agentKeys(tokens: ReturnType<typeof openTokens>, state: OpenedConfig["state"]): AgentKeys {
  return {
    list: tokens.list,
    add: async ({ expires, ...wanted }, by) => {
      const expiresAt = expires.trim() === "" ? undefined : readExpiry(expires, Date.now());
      const wrong = (reason: string) => problem("INVALID_INPUT", { operation: "the key", reason });
      if (!AGENT_NAME.test(wanted.name))
        throw wrong("a name has letters, digits, dots, hyphens and underscores");
      if (expires.trim() !== "" && expiresAt === undefined)
        throw wrong("it ends at a time from now, such as 30d, or at a date to come, such as 2027-01-31");
      const key = await addAgentKey(
        tokens,
        { ...wanted, scopes: [...wanted.scopes], ...(expiresAt !== undefined && { expiresAt }) },
        { by, state },
      );
      if (key === undefined) throw wrong(`the agent ${wanted.name} exists; revoke its key first`);
      return key;
    },
    revoke: (name, by) => revokeAgentKey(tokens, name, { by, state }),
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

function withHost(url: string, host: string): string {
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
