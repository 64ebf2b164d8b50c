import type { Pins } from "../access/pins.ts";
import { createGateway } from "../gateway.ts";
import type { Entry } from "../schema/entry.ts";
import type { ServerProgram } from "../schema/server-program.ts";
import type { Source } from "../schema/source.ts";
import type { McpSource } from "../sources/mcp/mcp-source.ts";
import { toAge } from "../util/to-age.ts";
import { listServers } from "./list-servers.ts";
import { closeAudit, localUser, openConfiguredAudit } from "./open-audit.ts";
import { openConfig } from "./open-config.ts";
import { openPins } from "./open-pins.ts";

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
  /** Entries of all surveyed servers, also those that wait. */
  readonly entries: readonly Entry[];
  /** The program of each server, by label. Servers of a config module are not there. */
  readonly programs: ReadonlyMap<string, ServerProgram>;
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

/** Finds the servers of a config, or of the folder and the settings. Starts none. */
export async function findServers(config: string | undefined): Promise<FoundServers> {
  const { options, servers, loaded } = await openConfig({ config });
  return {
    sources: options.sources,
    guarded: servers,
    pins: options.pins ?? openPins(),
    problems: loaded.problems.map(({ message }) => message),
  };
}

/** Reads the definitions of the servers in a config and the settings, from fresh listings or from the servers. */
export async function surveyServers({ config, source, refresh }: SurveyOptions): Promise<Survey> {
  const { sources: all, guarded, pins, problems } = await findServers(config);
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
  const failures = await listServers(gateway, ({ isFresh }) => refresh || !isFresh);
  const status = await gateway.sources.status();
  const unreached = [...failures].map(([id, reason]) => {
    const newest = status.find((one) => one.id === id)?.newest;
    const kept = newest === undefined ? "" : ` The list is ${toAge(Date.now() - newest)} old.`;
    return `${id} could not be listed: ${reason}${kept}`;
  });
  return {
    pins: gateway.pins,
    entries: (await gateway.view()).entries,
    programs: new Map(guarded.map((one) => [labelOf(one), one.program()])),
    unreached: [...problems, ...unreached],
    close: async () => {
      await gateway.close();
      await closeAudit(audit);
    },
  };
}

function labelOf({ id }: Source): string {
  return id.slice(id.indexOf(":") + 1);
}
