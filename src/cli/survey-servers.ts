import { homedir } from "node:os";
import type { Pins } from "../access/pins.ts";
import { loadSettings } from "../config/load-settings.ts";
import { createGateway } from "../gateway.ts";
import type { Source } from "../schema/source.ts";
import type { McpSource } from "../sources/mcp/mcp-source.ts";
import { reasonOf } from "../util/reason-of.ts";
import { toAge } from "../util/to-age.ts";
import { isJsonConfig } from "./config-in-use.ts";
import { settingsServers } from "./configured-servers.ts";
import { loadAnyConfig } from "./load-config.ts";
import { closeAudit, localUser, openConfiguredAudit } from "./open-audit.ts";
import { openPins } from "./open-pins.ts";
import { askForTrust } from "./trust-folder.ts";

export interface SurveyOptions {
  readonly config: string | undefined;
  /** Limits the survey to this source, if it exists. */
  readonly source: string | undefined;
  /** Lists servers again even if their listing is fresh. */
  readonly refresh: boolean;
}

export interface Survey {
  /** Knows the definitions of all surveyed servers. */
  readonly pins: Pins;
  /** Why servers could not be listed. The texts come from outside. */
  readonly unreached: readonly string[];
  close(): Promise<void>;
}

export interface FoundServers {
  readonly sources: readonly Source[];
  /** Those that need a consent to start. A module could start its servers by itself, so they need none. */
  readonly guarded: readonly McpSource[];
  readonly pins: Pins;
  /** Mistakes in the settings. */
  readonly problems: readonly string[];
}

/** Finds the servers of a config and of the settings. Starts none. */
export async function findServers(config: string | undefined): Promise<FoundServers> {
  const isFolderTrusted = config === undefined && (await askForTrust(process.cwd()));
  const { sources = [], pins = openPins() } = await loadAnyConfig(config, isFolderTrusted);
  const loaded = await loadSettings();
  const others = settingsServers(loaded, { home: homedir(), project: process.cwd() }).filter(
    ({ id }) => !sources.some((one) => one.id === id),
  );
  const named = isJsonConfig(config) ? sources.filter((source) => "program" in source) : [];
  return {
    sources: [...sources, ...others],
    guarded: [...(named as McpSource[]), ...others],
    pins,
    problems: loaded.problems.map(({ message }) => message),
  };
}

/** Reads the definitions of the servers in a config and the settings, from fresh listings or from the servers. */
export async function surveyServers({ config, source, refresh }: SurveyOptions): Promise<Survey> {
  const { sources: all, pins, problems } = await findServers(config);
  const chosen = all.filter((one) => labelOf(one) === source);
  const sources = chosen.length > 0 ? chosen : all;
  const audit = await openConfiguredAudit();
  const principal = { id: localUser(), scopes: [], allowWrite: false };
  const gateway = createGateway({
    domains: [],
    sources,
    pins,
    principal,
    learning: false,
    ...(audit && { audit }),
  });
  const unreached = (await gateway.sources.status())
    .filter(({ isFresh }) => refresh || !isFresh)
    .map(async ({ id, newest }): Promise<string[]> => {
      try {
        await gateway.sources.refresh(id);
        return [];
      } catch (error) {
        const kept = newest === undefined ? "" : ` The list is ${toAge(Date.now() - newest)} old.`;
        return [`${id} could not be listed: ${reasonOf(error)}${kept}`];
      }
    });
  return {
    pins: gateway.pins,
    unreached: [...problems, ...(await Promise.all(unreached)).flat()],
    close: async () => {
      await gateway.close();
      await closeAudit(audit);
    },
  };
}

function labelOf({ id }: Source): string {
  return id.slice(id.indexOf(":") + 1);
}
