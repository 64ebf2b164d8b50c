import { existsSync } from "node:fs";
import { extname } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { toVisibleLine } from "../../base/safety/visible-text.ts";
import { makeFolder } from "../../base/util/make-folder.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import type { AcceptedLimits } from "../../core/access/accepted-limits.ts";
import { toAge } from "../../core/answers/to-age.ts";
import { DOES } from "../../core/nouns/entry.ts";
import type { SandboxLimits } from "../../core/nouns/server-program.ts";
import {
  type LimitsApproval,
  listApprovals,
  type ServerApprovals,
  toProgramApproval,
} from "../../gateway/approvals.ts";
import { isolationFault } from "../../sources/isolation/isolation.ts";
import { deniedPaths, proposeLimits, showLimits } from "../../sources/isolation/propose-limits.ts";
import type { ServerSource } from "../../sources/servers/from-config.ts";
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
  const noteDenied = (some: readonly ServerSource[]) =>
    Promise.all(
      some.map((one) => accepted.note(one.program(), { paths: deniedPaths(one.diagnostics().stderr) })),
    );
  const failures = await listSources(gateway, ({ isFresh }) => refresh || !isFresh);
  await noteDenied(chosen);
  const hasSandbox = (await isolationFault()) === undefined;
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
      const listed = await listApprovals(gateway.pins, (await gateway.view()).entries, shown);
      return listed.map((one) => {
        const source = hasSandbox && chosen.find(({ label }) => label === one.server);
        const proposal = source && one.program?.isApproved && toLimitsApproval(source, one, accepted);
        return proposal ? { ...one, proposal } : one;
      });
    },
    /** Keeps a server to limits from its next start on. */
    limit: async (server: string, limits: SandboxLimits): Promise<void> => {
      for (const folder of limits.folders ?? [])
        if (!existsSync(folder) && extname(folder) === "") makeFolder(folder);
      for (const program of programs) if (program.label === server) await accepted.accept(program, limits);
    },
    /** Lets exactly this program of a server start, and lists what it offers. Returns why that failed. */
    start: async (server: string, hash: string): Promise<string | undefined> => {
      await consents.give(programs.filter((program) => program.label === server && program.hash === hash));
      const ids = sources.filter(({ id }) => serverName(id) === server).map(({ id }) => id);
      const [failure] = await listSources(gateway, ({ id }) => ids.includes(id));
      await noteDenied(chosen.filter(({ label }) => label === server));
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

/** Limits that fit what is known of a server, if they differ from those that it has. */
function toLimitsApproval(
  server: ServerSource,
  { definitions }: ServerApprovals,
  accepted: AcceptedLimits,
): LimitsApproval | undefined {
  const program = server.program();
  // The limits of a config are the person's own words.
  if (!("command" in program.runs) || program.runs.sandbox !== undefined) return undefined;
  const present = server.limits?.();
  if (!present) return undefined;
  const touched = accepted.touched(program);
  const tools = definitions.filter(({ effect }) => TOOL_EFFECTS.has(effect)).map((one) => one.definition);
  const { why, ...limits } = proposeLimits(present, tools, touched);
  if (isDeepStrictEqual(limits, accepted.accepted(program) ?? { network: "all" })) return undefined;
  const asked = touched.hosts.length > 0 ? touched.hosts.map(toVisibleLine).join(", ") : "no host";
  return {
    limits,
    lines: [
      "Its sandbox could be:",
      ...showLimits(server.limits?.(limits) ?? present),
      `because  ${toVisibleLine(why)}; it asked for ${asked} while it was tried`,
      "unseen   connections past a proxy, and files that it only reads",
    ],
  };
}

const TOOL_EFFECTS: ReadonlySet<string> = new Set(Object.values(DOES));
