import { contentHash } from "../../base/util/content-hash.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import type { Pin, Pins } from "../../core/access/pins.ts";
import { toAge } from "../../core/answers/to-age.ts";
import type { Entry } from "../../core/nouns/entry.ts";
import type { ServerProgram } from "../../core/nouns/server-program.ts";
import type { Source } from "../../core/nouns/source.ts";
import type { McpSource } from "../../sources/mcp/mcp-source.ts";
import { openConfig } from "../open/open-config.ts";
import { listSources, openGateway } from "../open/open-gateway.ts";
import { closeAudit, localUser, openConfiguredAudit, openPins } from "../open/stores.ts";

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
  /** Why servers could not be listed, and mistakes in the settings, which have no label. The texts come from outside. */
  readonly unreached: readonly { readonly label?: string; readonly sentence: string }[];
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
  const { gateway, close } = openGateway({ options: { sources, pins, principal, ...(audit && { audit }) } });
  const failures = await listSources(gateway, ({ isFresh }) => refresh || !isFresh);
  const status = await gateway.sources.status();
  const unreached = [...failures].map(([id, error]) => {
    const newest = status.find((one) => one.id === id)?.newest;
    const age = newest === undefined ? "" : ` The list is ${toAge(Date.now() - newest)} old.`;
    return { label: labelOf({ id }), sentence: `${id} could not be listed: ${reasonOf(error)}${age}` };
  });
  return {
    pins: gateway.pins,
    entries: (await gateway.view()).entries,
    programs: new Map(guarded.map((one) => [labelOf(one), one.program()])),
    unreached: [...problems.map((sentence) => ({ sentence })), ...unreached],
    close: async () => {
      await close();
      await closeAudit(audit);
    },
  };
}

/** Identifies exactly these definitions, for `--yes HASH`. */
export function hashOfPins(pins: readonly Pin[]): string {
  return contentHash(pins.map(({ route, hash, program }) => [route, hash, program]));
}

function labelOf({ id }: Pick<Source, "id">): string {
  return id.slice(id.indexOf(":") + 1);
}
