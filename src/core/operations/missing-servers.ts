import { cutText } from "../../base/util/cut-text.ts";
import { memoizeByObject } from "../../base/util/memoize-by-object.ts";
import type { View } from "../access/view.ts";
import { type Entry, type EntryStatus, knownStatus } from "../nouns/entry.ts";
import type { FailedRead } from "./operation.ts";

/** A server that the caller cannot use completely, and why. */
interface MissingServer {
  readonly domain: string;
  /** Absent for a source without entries that could not be read. */
  readonly status?: EntryStatus;
  readonly reason: string;
  /** How many of its entries wait, if the others can be used. */
  readonly part?: string;
}

const MOST_NAMED = 5;
const REASON_CHARS = 140;
/** The reason ends with a command to type, which a cut would break. */
const COMMAND_CHARS = 240;
/** People can act on these states, so name them first. */
const WAITS_FOR_PERSON: readonly EntryStatus["state"][] = ["quarantined", "needs_login"];

/** Names the servers whose entries cannot be found, in one line: first those with reasons, then names only. */
export function missingLines(view: View, failed: readonly FailedRead[], domain?: string): readonly string[] {
  const unread = failed
    .filter(({ name }) => !view.domains.has(name))
    .map(({ name, reason }): MissingServer => ({ domain: name, reason }));
  const servers = [...missingFrom(view.shown), ...unread].filter(
    (server) => domain === undefined || server.domain === domain,
  );
  return servers.length === 0 ? [] : [toLine(servers, withReason), toLine(servers, ({ domain }) => domain)];
}

/** Names the servers that wait for a person, and the commands to type. */
export function waitingLine(view: View): string | undefined {
  const servers = missingFrom(view.shown).filter(waitsForPerson);
  return servers.length === 0 ? undefined : toLine(servers, withReason);
}

function toLine(servers: readonly MissingServer[], toText: (server: MissingServer) => string): string {
  const more = servers.length - MOST_NAMED;
  const names = servers.slice(0, MOST_NAMED).map(toText).join(", ");
  return `Not available: ${names}${more > 0 ? ` and ${more} more` : ""}.`;
}

function withReason(server: MissingServer): string {
  const { domain, status, reason, part = "" } = server;
  const cut = cutText(reason, waitsForPerson(server) ? COMMAND_CHARS : REASON_CHARS).replace(/\.$/, "");
  return status ? `${domain} [${part}${status.state}: ${cut}]` : `${domain} could not be read: ${cut}`;
}

function waitsForPerson({ status }: MissingServer): boolean {
  return status !== undefined && WAITS_FOR_PERSON.includes(status.state);
}

const missingFrom = memoizeByObject((shown: readonly Entry[]): readonly MissingServer[] => {
  const domains = Map.groupBy(shown, ({ domain }) => domain);
  const servers = [...domains].flatMap(([domain, entries]) => toMissing(domain, entries));
  return servers.sort((one, other) => Number(waitsForPerson(other)) - Number(waitsForPerson(one)));
});

/** A server counts as missing if no entry is usable, or if some wait for approval. */
function toMissing(domain: string, entries: readonly Entry[]): MissingServer[] {
  const unusable = entries.flatMap((entry) => knownStatus(entry) ?? []);
  const isWhole = unusable.length === entries.length;
  const waiting = unusable.filter(({ state }) => state === "quarantined");
  const status = waiting[0] ?? (isWhole ? unusable[0] : undefined);
  // Starting servers have their own sentence.
  if (status === undefined || status.state === "starting") return [];
  const { reason } = status;
  return [
    { domain, status, reason, ...(!isWhole && { part: `${waiting.length} of ${entries.length} entries ` }) },
  ];
}
