import { toVisibleLine } from "../../base/safety/visible-text.ts";
import { contentHash } from "../../base/util/content-hash.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import type { Pin, Pins } from "../../core/access/pins.ts";
import { toAge } from "../../core/answers/to-age.ts";
import { openConfig } from "../open/open-config.ts";
import { listSources, openGateway, serverName } from "../open/open-gateway.ts";
import { closeAudit, localUser, openConfiguredAudit } from "../open/stores.ts";

export interface SurveyOptions {
  readonly config: string | undefined;
  /** Limits the survey to this source, if it exists. */
  readonly source?: string | undefined;
  /** Lists servers again even if their listing is fresh. */
  readonly refresh: boolean;
}

export type Survey = Awaited<ReturnType<typeof surveyServers>>;

/** Reads the definitions of the servers in a config and the settings, from fresh listings or from the servers. */
export async function surveyServers({ config, source, refresh }: SurveyOptions) {
  const { options, servers, loaded } = await openConfig({ config, everyProfile: true });
  const chosen = options.sources.filter(({ id }) => serverName(id) === source);
  const sources = chosen.length > 0 ? chosen : options.sources;
  const audit = await openConfiguredAudit();
  const principal = { id: localUser(), scopes: [], allowWrite: false };
  const { pins } = options;
  const { gateway, close } = openGateway({ options: { sources, pins, principal, ...(audit && { audit }) } });
  const failures = await listSources(gateway, ({ isFresh }) => refresh || !isFresh);
  const status = await gateway.sources.status();
  const unreached = [...failures].map(([id, error]) => {
    const newest = status.find((one) => one.id === id)?.newest;
    const age = newest === undefined ? "" : `. The list is ${toAge(Date.now() - newest)} old.`;
    return {
      label: serverName(id),
      sentence: `${id} could not be listed: ${reasonOf(error).replace(/\.$/, "")}${age}`,
    };
  });
  return {
    config,
    pins: gateway.pins,
    /** Entries of all surveyed servers, also those that wait. */
    entries: (await gateway.view()).entries,
    /** The program of each server, by label. Servers of a config module are not there. */
    programs: new Map(servers.map((server) => [server.label, server.program()])),
    /** Why servers could not be listed, and mistakes in the settings, which have no label. */
    unreached: [
      ...loaded.problems.map(({ message }) => ({ label: undefined, sentence: message })),
      ...unreached,
    ],
    close: async () => {
      await close();
      await closeAudit(audit);
    },
  };
}

/** Lists how a definition differs from the approved one. */
export function changeLines(pins: Pins, route: string, mark = ""): string[] {
  return pins
    .diff(route)
    .flatMap((change) => [
      `${mark}${change.path}`,
      ...("before" in change ? [`- ${JSON.stringify(change.before)}`] : []),
      ...("after" in change ? [`+ ${JSON.stringify(change.after)}`] : []),
    ])
    .map(toVisibleLine);
}

/** Identifies exactly these definitions, for `--yes HASH`. */
export function hashOfPins(pins: readonly Pin[]): string {
  return contentHash(pins.map(({ route, hash, program }) => [route, hash, program]));
}
