import { homedir } from "node:os";
import { join } from "node:path";
import { toVisibleLine } from "../../base/safety/visible-text.ts";
import { field, fieldsOf } from "../../base/util/plain-object.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import type { ServerProgram } from "../../core/nouns/server-program.ts";
import { readProfile, serversOf, serversOfAll } from "../../sources/mcp/config/overrides.ts";
import type { McpSourceOptions } from "../../sources/mcp/source-options.ts";
import { fromConfig, type ServerSource } from "../../sources/servers/from-config.ts";
import type { LoadedSettings } from "./load-settings.ts";
import { openLogins } from "./open-logins.ts";
import type { ProgramState } from "./open-state.ts";
import {
  type ChooseServers,
  type ConfigReport,
  type ReadServers,
  readJsonConfig,
  sortServers,
  workspaceOf,
} from "./read-json-config.ts";
import { withSecrets } from "./secrets.ts";
import { servedSkills } from "./served-skills.ts";
import { openAcceptedLimits, openConsents } from "./stores.ts";
import { suggestCommand } from "./suggest-command.ts";
import { cacheFolder, ownConfig, ownFolders } from "./user-folders.ts";

export interface ConfigOptions {
  /** A JSON config or a module. Without it, the config of a trusted folder and the servers of the settings. */
  readonly config?: string | undefined;
  /** A folder of Markdown that the person has named. Without a config, nothing else is served. */
  readonly library?: string | undefined;
  /** The folder that the command stands in. Default: that of the process. */
  readonly folder?: string;
  readonly profile?: string | undefined;
  /** The programs that `trust` speaks for. Default: those of the first reading. */
  readonly named?: Set<string>;
  /** Whether the servers have every tool that some profile has, for a person who decides about all of them. */
  readonly everyProfile?: boolean;
  /** Starts the servers of the config that it names now, and trusts the definitions of all its servers. */
  readonly trust?: boolean;
  /** Whether the command uses the folder also with a named config, so that a person is asked to trust it. */
  readonly usesFolder?: boolean;
  /** Whether a person in the terminal is asked to trust the folder. Default: true. */
  readonly asksTrust?: boolean;
  /** Further options of the servers that files name. */
  readonly servers?: Pick<McpSourceOptions, "environment" | "inherits" | "shared" | "limits">;
  /** Receives sentences about servers that are set aside and fields that are not honoured. Default: stderr. */
  readonly report?: ConfigReport;
  /** Whether servers are started so that limits can be proposed for them. */
  readonly isTrial?: boolean;
  /** Whether definitions are only looked at, so that none needs an approval. Servers still need a consent. */
  readonly readsOnly?: boolean;
  /** Variables that override settings. Default: the environment. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/**
 * Reads servers, at the start and after each change. None starts before a person has consented to it. `--trust` speaks
 * for the servers of the file as the person knows it, not for those that are added later. A source asks while it is
 * made, so those of the first reading are named as they ask.
 */
export function serverReader({
  json,
  config,
  library,
  folder,
  trust,
  profile,
  everyProfile = false,
  servers = {},
  report = (sentence) => console.error(toVisibleLine(sentence)),
  readsOnly = false,
  isTrial = false,
  named,
  isNaming: isFirst,
  state,
}: ConfigOptions & {
  readonly folder: string;
  readonly trust: boolean;
  readonly json: string | undefined;
  readonly named: Set<string>;
  readonly isNaming: boolean;
  readonly state: ProgramState | undefined;
}) {
  let isNaming = isFirst && trust && json !== undefined;
  /** A source also asks while it is made, and shows what it was answered until it is used. */
  let isMaking = false;
  return async (loaded: LoadedSettings): Promise<ServerSource[]> => {
    if (json === undefined && (config !== undefined || library !== undefined)) return [];
    const variables = withSecrets(servers.environment ?? process.env);
    const consents = openConsents(state);
    const acceptedLimits = await openAcceptedLimits(state);
    const given = loaded.settings.people;
    // Tokens of people need a library of cryptography, which other configs do without.
    const people =
      given === undefined
        ? undefined
        : (await import("./people.ts")).readPeople(given, json ?? ownConfig(), variables);
    const skills = await servedSkills(loaded.settings, folder);
    const options: McpSourceOptions = {
      inherits: "all",
      ...servers,
      ...(skills && { skills }),
      isolation: {
        hidden: ownFolders(),
        isTrial,
        accepted: acceptedLimits.accepted,
        onHost: (program, host, isListed) => {
          if (isListed && !isTrial) return;
          if (!isListed && !acceptedLimits.touched(program).hosts.includes(host))
            report(refusedHost(program, host, json));
          // A note that is lost is made again.
          void acceptedLimits.note(program, { hosts: [host] }).catch(() => {});
        },
        onDenied: (program, path) => {
          void acceptedLimits.note(program, { paths: [path] }).catch(() => {});
        },
      },
      cacheDirectory: join(cacheFolder(), "listings"),
      ...(state && { listings: state.storage }),
      trusted: trust || readsOnly,
      ...(loaded.settings.changes && { changes: loaded.settings.changes }),
      commandFor: (words) => suggestCommand(words, json),
      variables,
      ...openLogins(loaded.settings, variables, state?.storage),
      ...(people && { exchange: { issuer: people.issuer, ...people.console } }),
      mayStart: (program) => {
        if (isNaming) named.add(program.hash);
        if (named.has(program.hash)) return true;
        return isMaking ? consents.wasGiven(program) : consents.isGiven(program);
      },
    };
    const choose: ChooseServers = (all, profiles) => {
      if (everyProfile) return serversOfAll(all, profiles);
      return profile === undefined ? all : serversOf(all, readProfile(profiles, profile));
    };
    if (state) await consents.read();
    isMaking = state !== undefined;
    try {
      if (json === undefined)
        return settingsServers(loaded, { home: homedir(), project: folder }, options, { choose, report });
      return await readJsonConfig(json, { ...options, cwd: workspaceOf(json) }, { choose, report });
    } finally {
      isNaming = false;
      isMaking = false;
    }
  };
}

function refusedHost({ label, runs }: ServerProgram, host: string, config: string | undefined): string {
  const isConfigured = "command" in runs && runs.sandbox !== undefined;
  const allows = isConfigured ? "sandbox.network in its config" : suggestCommand(["approve", label], config);
  return `The sandbox of ${label} kept it from ${host}, which is not in its list of hosts; ${allows} adds it.`;
}

/**
 * One source for each server of the settings. The person's own servers start in the home folder, those of a project
 * in the project, so that the folder that a command happens to stand in decides nothing.
 */
function settingsServers(
  { settings: { mcpServers, overrides, profiles }, sources, trusted: isProjectTrusted }: LoadedSettings,
  folders: { readonly home: string; readonly project: string },
  options: McpSourceOptions,
  { choose, report }: Required<ReadServers>,
): ServerSource[] {
  const project = sources.find(({ from }) => from === "project")?.value.mcpServers ?? {};
  const placed = Object.entries(mcpServers).map(([name, config]) => {
    const cwd = isProjectTrusted && Object.hasOwn(project, name) ? folders.project : folders.home;
    return [name, field(config, "url") === undefined ? { cwd, ...fieldsOf(config) } : config];
  });
  const chosen = choose(Object.fromEntries(placed), profiles);
  const { usable, broken, notes } = sortServers({ servers: chosen, overrides }, folders);
  for (const { error } of broken) report(`${reasonOf(error)} The others are used.`);
  for (const { name, note } of notes) report(`The server ${name}: ${note}`);
  return fromConfig({ mcpServers: usable, overrides, profiles }, options);
}
