import { existsSync, readdirSync, unwatchFile, watchFile } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { type Problem, problem } from "../../base/problems/problem.ts";
import { lazy } from "../../base/util/lazy.ts";
import { nearest } from "../../base/util/nearest.ts";
import { isPlainObject } from "../../base/util/plain-object.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import { singleFlight } from "../../base/util/single-flight.ts";
import type { Source } from "../../core/nouns/source.ts";
import { publish } from "../../core/telemetry/events.ts";
import type { GatewayOptions } from "../../gateway/gateway-api.ts";
import { type Profile, readProfile } from "../../sources/mcp/config/overrides.ts";
import { expandVariables } from "../../sources/mcp/config/to-launch.ts";
import { toLabel } from "../../sources/mcp/mcp-source.ts";
import type { ServerSource } from "../../sources/servers/from-config.ts";
import { reasonWhy } from "../clients/edit-config.ts";
import { guardImports } from "./code-files.ts";
import { defaultConfig, isJsonConfig, settingsPath } from "./config-files.ts";
import { isTrusted } from "./folder-trust.ts";
import { loadModule } from "./load-module.ts";
import { type LoadedSettings, loadSettings } from "./load-settings.ts";
import { openState, refuseIgnored } from "./open-state.ts";
import { type ConfigOptions, serverReader } from "./read-servers.ts";
import { withSecrets } from "./secrets.ts";
import type { Settings } from "./settings-schema.ts";
import { openPins } from "./stores.ts";
import { quoteWord } from "./suggest-command.ts";
import { recipesFolder, setStateFolder } from "./user-folders.ts";

/** Everything that a config says, in the same form for every command. */
export type OpenedConfig = Awaited<ReturnType<typeof openConfig>>;

/**
 * Opens the config of a command. A JSON config is one file with one schema: settings, servers, overrides and
 * profiles. With a named config there are no other servers.
 *
 * @throws CONFIG_INVALID, CONFIG_NOT_TRUSTED, INVALID_INPUT for a profile that is not there.
 */
export async function openConfig(given: ConfigOptions = {}) {
  const { config, library, folder = process.cwd(), trust = false, env } = given;
  setStateFolder();
  if (config !== undefined && !existsSync(config))
    throw problem("CONFIG_INVALID", {
      path: config,
      reason: "the file does not exist",
      step: otherConfig(config),
    });
  const isOwn = config === undefined && library === undefined;
  const usesFolder = isOwn || given.usesFolder === true;
  const isFolderTrusted = usesFolder && (await isTrustGiven(folder, given));
  if (isFolderTrusted) await guardFolder(folder);
  const json = isJsonConfig(config) ? config : undefined;
  const source = { project: folder, ...(env && { env }), config: json };
  const variables = lazy(() => withSecrets(env ?? process.env));
  const loaded = fillSecrets(await loadSettings(source), variables);
  refuseIgnored(loaded);
  const state = loaded.settings.state && (await openState(loaded.settings, variables()));
  const modulePath =
    json === undefined ? (config ?? (isFolderTrusted ? defaultConfig(folder) : undefined)) : undefined;
  const module = modulePath === undefined ? undefined : await loadModule(modulePath);
  const profile: Profile =
    given.profile === undefined ? {} : readProfile(loaded.settings.profiles, given.profile);
  const followed = json ?? (isOwn ? settingsPath(homedir()) : undefined);
  const named = given.named ?? new Set<string>();
  const read = serverReader({
    ...given,
    folder,
    trust,
    json,
    state,
    named,
    isNaming: given.named === undefined,
  });
  let current = loaded;
  const servers = await read(loaded);
  const own = [
    ...(library === undefined ? [] : [await openLibrary(library)]),
    ...(module?.options.sources ?? []),
  ];
  const withServers = (found: readonly ServerSource[]) => [
    ...own,
    ...found.filter(({ id }) => !own.some((one) => one.id === id)),
  ];
  const options: GatewayOptions & Required<Pick<GatewayOptions, "domains" | "sources" | "pins">> = {
    domains: [],
    pins: await openPins(state),
    ...module?.options,
    sources: withServers(servers),
  };
  return {
    config,
    recipes: recipesFolder(json ?? modulePath),
    profileName: given.profile,
    options,
    /** The servers that files name. They need a consent to start; a module could start its servers by itself. */
    servers,
    loaded,
    settings: loaded.settings,
    /** The state that the config names. */
    state,
    profile,
    /** The profiles as the config has them now. A module decides by itself about its servers, so it has none. */
    profiles: () => (modulePath === undefined ? current.settings.profiles : {}),
    named,
    isFolderTrusted,
    ...(module?.webhooks && { webhooks: module.webhooks }),
    /** Passes all sources on after each saved change of the servers. Returns a function that stops it. */
    watch: (apply: (sources: readonly Source[], servers: readonly ServerSource[]) => Promise<void>) => {
      if (followed === undefined) return () => {};
      const update = async () => {
        const now = await loadSettings({ ...source, last: loaded });
        const isWrong = now.sources.some(({ path, state }) => path === followed && state === "kept");
        if (json === undefined && isWrong) throw now.problems[0];
        current = now;
        const changed = await read(now);
        await apply(withServers(changed), changed);
      };
      return watchConfig(followed, update, (error) => {
        const detail = `${reasonOf(error)} The last good config stays in use.`;
        publish({ type: "notice", notice: "config-invalid", detail });
      });
    },
  };
}

/** The folder that a person has named on the command line, under its own name. */
async function openLibrary(path: string): Promise<Source> {
  if (!existsSync(path))
    throw problem("INVALID_INPUT", { operation: "--library", reason: `the folder ${path} does not exist` });
  const { createMarkdownSource } = await import("../../sources/markdown/markdown-source.ts");
  const name = basename(resolve(path));
  return createMarkdownSource(toLabel(name), { directory: path, description: `The library ${name}.` });
}

/** The file of the same folder that a person may have meant. */
function otherConfig(path: string): string {
  const isConfig = (name: string) => /\.(?:json|jsonc|[cm]?[jt]s)$/.test(name);
  const names = attempt(() => readdirSync(dirname(path)).filter(isConfig)) ?? [];
  const [near] = nearest(basename(path), names, 1);
  if (near === undefined)
    return "Correct the path, or leave out --config to use the servers of your settings.";
  return `Did you mean --config ${quoteWord(join(dirname(path), near))}?`;
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

async function guardFolder(given: string): Promise<void> {
  const { folderContents } = await import("./folder-contents.ts");
  const { folder, files } = await folderContents(given);
  guardImports(folder, new Set(files.map(({ path }) => path)));
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

export function isEmpty({ options: { domains, sources } }: OpenedConfig): boolean {
  return domains.length + sources.length === 0;
}

/** The only fields that are filled in: nobody but the owner can set them, and they go nowhere else than to the provider. */
const KEY_FIELDS = ["apiKey", "token"];

/**
 * Fills `${keychain:NAME}`, `${secret:NAME}` and `${VARIABLE}` into the keys of providers. A key that cannot be filled
 * in counts as missing, and a problem says why.
 */
export function fillSecrets(
  loaded: LoadedSettings,
  variables: () => Readonly<Record<string, string | undefined>>,
): LoadedSettings {
  const problems: Problem[] = [];
  let found: ReturnType<typeof variables> | undefined;
  const fill = (provider: string, field: string, value: unknown): unknown => {
    if (!KEY_FIELDS.includes(field) || typeof value !== "string" || !value.includes("${")) return value;
    try {
      found ??= variables();
      return expandVariables(provider, value, found);
    } catch (error) {
      const reason = `${reasonWhy(error)}.`;
      problems.push(problem("PROVIDER_NOT_CONFIGURED", { name: provider, reason }));
      return undefined;
    }
  };
  const providers = Object.entries(loaded.settings.providers).map(([name, part]): [string, unknown] => {
    if (!isPlainObject(part)) return [name, part];
    const fields = Object.entries(part).map(([field, value]) => [field, fill(name, field, value)] as const);
    return [name, Object.fromEntries(fields.filter(([, value]) => value !== undefined))];
  });
  if (found === undefined) return loaded;
  return {
    ...loaded,
    settings: { ...loaded.settings, providers: Object.fromEntries(providers) as Settings["providers"] },
    problems: [...loaded.problems, ...problems],
  };
}

const INTERVAL_MS = 500;

/**
 * Follows a file by polling, which notices every way in which editors save: in place, by renaming, through a
 * link, or by deleting first. A wrong config changes nothing. Returns a function that stops it.
 */
export function watchConfig(
  path: string,
  /** Reads the file and applies it. Rejects if it is wrong. */
  update: () => Promise<void>,
  /** Called once for each new reason why a change cannot be applied. */
  onFailure: (error: unknown) => void,
  interval = INTERVAL_MS,
): () => void {
  let saved = false;
  let said: string | undefined;

  const follow = singleFlight(async () => {
    while (saved) {
      saved = false;
      try {
        await update();
        said = undefined;
      } catch (error) {
        if (said !== String(error)) onFailure(error);
        said = String(error);
      }
    }
  });
  const onSave = () => {
    saved = true;
    void follow();
  };
  watchFile(path, { interval, persistent: false }, onSave);
  return () => unwatchFile(path, onSave);
}
