import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { isTrusted } from "../config/folder-trust.ts";
import { type LoadedSettings, loadSettings } from "../config/load-settings.ts";
import { settingsPath } from "../config/settings-path.ts";
import type { GatewayOptions } from "../gateway-api.ts";
import type { HttpOptions } from "../mcp/serve-http.ts";
import { problem } from "../schema/problem.ts";
import type { Source } from "../schema/source.ts";
import { type Profile, readProfile } from "../sources/mcp/config/overrides.ts";
import type { McpSource, McpSourceOptions } from "../sources/mcp/mcp-source.ts";
import { reasonOf } from "../util/reason-of.ts";
import { toVisibleLine } from "../util/visible-text.ts";
import { defaultConfig, isJsonConfig } from "./config-files.ts";
import { serverOptions, settingsServers } from "./configured-servers.ts";
import { fillSecrets } from "./fill-secrets.ts";
import { loadModule } from "./load-module.ts";
import { openPins } from "./open-pins.ts";
import { withSecrets } from "./open-secrets.ts";
import { type Report, readJsonConfig, workspaceOf } from "./read-json-config.ts";
import { setStateFolder } from "./user-folders.ts";
import { watchConfig } from "./watch-config.ts";

export interface ConfigOptions {
  /** A JSON config or a module. Without it, the config of a trusted folder and the servers of the settings. */
  readonly config?: string | undefined;
  /** The folder that the command stands in. Default: that of the process. */
  readonly folder?: string;
  /** A profile of the config. */
  readonly profile?: string | undefined;
  /** Starts the servers of the config that it names now, and trusts the definitions of all its servers. */
  readonly trust?: boolean;
  /** Whether the command uses the folder also with a named config, so that a person is asked to trust it. */
  readonly usesFolder?: boolean;
  /** Whether a person in the terminal is asked to trust the folder. Default: true. */
  readonly asksTrust?: boolean;
  /** Further options of the servers that files name. */
  readonly servers?: Pick<McpSourceOptions, "environment" | "shared" | "limits">;
  /** Receives sentences about servers that are set aside and fields that are not honoured. Default: stderr. */
  readonly report?: Report;
  /** Whether definitions are only looked at, so that none needs an approval. Servers still need a consent. */
  readonly readsOnly?: boolean;
  /** Variables that override settings. Default: the environment. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** Everything that a config says, in the same form for every command. */
export interface OpenedConfig {
  readonly options: GatewayOptions & { readonly sources: NonNullable<GatewayOptions["sources"]> };
  /** The servers that files name. They need a consent to start; a module could start its servers by itself. */
  readonly servers: readonly McpSource[];
  readonly loaded: LoadedSettings;
  readonly profile: Profile;
  readonly isFolderTrusted: boolean;
  readonly webhooks?: HttpOptions["webhooks"];
  /** Passes all sources on after each saved change of the servers. Returns a function that stops it. */
  watch(apply: (sources: readonly Source[], servers: readonly McpSource[]) => Promise<void>): () => void;
}

/**
 * Opens the config of a command. A JSON config is one file with one schema: settings, servers, overrides and
 * profiles. With a named config there are no other servers.
 *
 * @throws CONFIG_INVALID, CONFIG_NOT_TRUSTED, INVALID_INPUT for a profile that is not there.
 */
export async function openConfig(given: ConfigOptions = {}): Promise<OpenedConfig> {
  const { config, folder = process.cwd(), trust = false, env } = given;
  setStateFolder();
  if (config !== undefined && !existsSync(config))
    throw problem("CONFIG_INVALID", { path: config, reason: "the file does not exist" });
  const isFolderTrusted =
    config === undefined || given.usesFolder ? await isTrustGiven(folder, given) : false;
  const json = isJsonConfig(config) ? config : undefined;
  const loaded = fillSecrets(await loadSettings({ project: folder, ...(env && { env }), config: json }), () =>
    withSecrets(env ?? process.env),
  );
  const modulePath =
    json === undefined ? (config ?? (isFolderTrusted ? defaultConfig(folder) : undefined)) : undefined;
  const module = modulePath === undefined ? undefined : await loadModule(modulePath);
  const profile = given.profile === undefined ? {} : readProfile(loaded.settings.profiles, given.profile);
  const followed = json ?? (config === undefined ? settingsPath(homedir()) : undefined);
  const read = serverReader({ ...given, folder, trust, json });
  const servers = await read(loaded);
  const own = module?.options.sources ?? [];
  const withServers = (found: readonly McpSource[]) => [
    ...own,
    ...found.filter(({ id }) => !own.some((one) => one.id === id)),
  ];
  return {
    options: { domains: [], pins: openPins(), ...module?.options, sources: withServers(servers) },
    servers,
    loaded,
    profile,
    isFolderTrusted,
    ...(module?.webhooks && { webhooks: module.webhooks }),
    watch: (apply) => {
      if (followed === undefined) return () => {};
      return watchConfig({
        path: followed,
        read: async () => {
          const last = await loadSettings({
            project: folder,
            ...(env && { env }),
            config: json,
            last: loaded,
          });
          const isWrong = last.sources.some(({ path, state }) => path === followed && state === "kept");
          if (json === undefined && isWrong) throw last.problems[0];
          return read(last);
        },
        apply: (found) => apply(withServers(found), found),
        onFailure: (error) => console.error(`${reasonOf(error)} The last good config stays in use.`),
      });
    },
  };
}

async function isTrustGiven(
  folder: string,
  { config, asksTrust = true }: Pick<ConfigOptions, "config" | "asksTrust">,
): Promise<boolean> {
  if (!asksTrust) return isTrusted(folder);
  const { askForTrust } = await import("./trust-folder.ts");
  return askForTrust(folder, config === undefined);
}

/**
 * Like {@link openConfig}, but refuses to go on without anything to serve.
 *
 * @throws NO_SERVERS
 */
export async function openFilledConfig(given: ConfigOptions = {}): Promise<OpenedConfig> {
  const opened = await openConfig(given);
  if (given.config === undefined && isEmpty(opened)) throw problem("NO_SERVERS");
  return opened;
}

/** Whether a config has nothing to serve. */
export function isEmpty({ options: { domains, sources } }: OpenedConfig): boolean {
  return domains.length + sources.length === 0;
}

/**
 * Reads servers, at the start and after each change. `--trust` speaks for the servers of the file as the person knows
 * it, not for those that are added later. A source asks while it is made, so those of the first reading are named as
 * they ask.
 */
function serverReader({
  json,
  config,
  folder,
  trust,
  profile,
  servers = {},
  report = (sentence) => console.error(toVisibleLine(sentence)),
  readsOnly = false,
}: ConfigOptions & { readonly folder: string; readonly trust: boolean; readonly json: string | undefined }) {
  const named = new Set<string>();
  let isNaming = trust && json !== undefined;
  return async (loaded: LoadedSettings): Promise<McpSource[]> => {
    if (json === undefined && config !== undefined) return [];
    const { mayStart, ...shared } = serverOptions(trust || readsOnly, servers);
    const options = {
      ...shared,
      ...(profile !== undefined && { profile }),
      mayStart: (program: Parameters<NonNullable<typeof mayStart>>[0]) => {
        if (isNaming) named.add(program.hash);
        return named.has(program.hash) || mayStart?.(program) === true;
      },
    };
    const found = await readServers();
    isNaming = false;
    return found;

    async function readServers(): Promise<McpSource[]> {
      if (json === undefined)
        return settingsServers(loaded, { home: homedir(), project: folder }, options, report);
      return readJsonConfig(json, { ...options, cwd: workspaceOf(json) }, report);
    }
  };
}
