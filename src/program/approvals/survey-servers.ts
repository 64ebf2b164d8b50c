import { reasonOf } from "../../base/util/reason-of.ts";
import { toAge } from "../../core/answers/to-age.ts";
import type { SandboxLimits } from "../../core/nouns/server-program.ts";
import { listApprovals, type ServerApprovals, toProgramApproval } from "../../gateway/approvals.ts";
import { acceptLimits, toLimitsApproval } from "../../gateway/limits-approval.ts";
import { openConfig } from "../open/open-config.ts";
import { listSources, openGateway, serverName } from "../open/open-gateway.ts";
import {
  closeAudit,
  localUser,
  openAcceptedLimits,
  openConfiguredAudit,
  openConsents,
} from "../open/stores.ts";

export interface SurveyOptions {
  readonly config: string | undefined;
  /** Limits the survey to these servers, if all of them exist. */
  readonly servers: readonly string[];
  /** Lists servers again even if their listing is fresh. */
  readonly refresh: boolean;
  /** Whether a person in the terminal is asked to trust the folder. Default: true. */
  readonly asksTrust?: boolean;
}

export type Survey = Awaited<ReturnType<typeof surveyServers>>;

/** Reads what the servers of a config and of the settings run and offer, from fresh listings or from the servers. */
export async function surveyServers({ config, servers: wanted, refresh, asksTrust = true }: SurveyOptions) {
  const { options, servers, loaded, settings, recipes, state } = await openConfig({
    config,
    everyProfile: true,
    isTrial: true,
    asksTrust,
  });
  const named = options.sources.filter(({ id }) => wanted.includes(serverName(id)));
  const sources = wanted.length > 0 && named.length === wanted.length ? named : options.sources;
  const audit = await openConfiguredAudit(state);
  const principal = { id: localUser(), scopes: [], allowWrite: false };
  const { pins } = options;
  const { gateway, close } = openGateway({
    options: { sources, pins, principal, recipes, ...(audit && { audit }) },
  });
  const consents = openConsents(state);
  const chosen = servers.filter((server) => sources.includes(server));
  const programs = chosen.map((server) => server.program());
  const accepted = await openAcceptedLimits(state);
  const failures = await listSources(gateway, ({ isFresh }) => refresh || !isFresh);
  const status = await gateway.sources.status();
  const sentenceOf = (id: string, error: unknown) => {
    const newest = status.find((one) => one.id === id)?.newest;
    const age = newest === undefined ? "" : `. The list is ${toAge(Date.now() - newest)} old.`;
    return `${id} could not be listed: ${reasonOf(error).replace(/\.$/, "")}${age}`;
  };
  return {
    config,
    pins: gateway.pins,
    /** Whether the settings say nothing about changes of wording yet. */
    offersWording: settings.changes === undefined,
    list: async (): Promise<ServerApprovals[]> => {
      const shown = await Promise.all(programs.map((program) => toProgramApproval(program, consents)));
      const { entries } = await gateway.view();
      const listed = await listApprovals(gateway.pins, entries, shown);
      const limited = listed.map(async (one) => {
        const source = one.program?.isApproved && chosen.find(({ label }) => label === one.server);
        const proposal = source && (await toLimitsApproval(source, entries, accepted));
        return proposal ? { ...one, proposal } : one;
      });
      return Promise.all(limited);
    },
    /** Keeps a server to limits from its next use on. */
    limit: async (server: string, limits: SandboxLimits): Promise<void> => {
      for (const source of chosen) if (source.label === server) await acceptLimits(source, limits, accepted);
    },
    /** Lets exactly this program of a server start, and lists what it offers. Returns why that failed. */
    start: async (server: string, hash: string): Promise<string | undefined> => {
      await consents.give(programs.filter((program) => program.label === server && program.hash === hash));
      const ids = sources.filter(({ id }) => serverName(id) === server).map(({ id }) => id);
      const [failure] = await listSources(gateway, ({ id }) => ids.includes(id));
      return failure && sentenceOf(...failure);
    },
    /** Takes the approval of a server's program back. Resolves to their number. */
    revokeProgram: (server: string): Promise<number> =>
      consents.revoke(programs.filter(({ label }) => label === server)),
    /** Why servers could not be listed, and mistakes in the settings, which have no server. */
    unreached: [
      ...loaded.problems.map(({ message }) => ({ server: undefined, sentence: message })),
      ...[...failures].map(([id, error]) => ({ server: serverName(id), sentence: sentenceOf(id, error) })),
    ],
    close: async () => {
      await close();
      await closeAudit(audit);
    },
  };
}
