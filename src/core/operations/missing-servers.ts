import { cutText } from "../../base/util/cut-text.ts";
import { memoizeByObject } from "../../base/util/memoize-by-object.ts";
import type { View } from "../access/view.ts";
import { type Entry, type EntryStatus, knownStatus } from "../nouns/entry.ts";

/** A server of which a caller cannot use everything, and why. */
interface MissingServer {
  readonly domain: string;
  readonly status: EntryStatus;
  /** How many of its entries wait, if others can be used. */
  readonly part?: string;
}

const MOST_NAMED = 5;
const REASON_CHARS = 140;
/** A reason that a person can act on ends with the command to type, which a cut would break. */
const COMMAND_CHARS = 240;
/** People can act on these states, so they are named first. */
const WAITS_FOR_PERSON: readonly EntryStatus["state"][] = ["quarantined", "needs_login"];

/** Names the servers whose tools cannot be found, in one line: with the reasons, then by name only. */
export function missingLines(view: View, domain?: string): readonly string[] {
  const servers = missingFrom(view.shown).filter(
    (server) => domain === undefined || server.domain === domain,
  );
  return servers.length === 0 ? [] : [toLine(servers, withReason), toLine(servers, ({ domain }) => domain)];
}

/** Names the servers that wait for a person, and what the person has to type. */
export function waitingLine(view: View): string | undefined {
  const servers = missingFrom(view.shown).filter(({ status }) => WAITS_FOR_PERSON.includes(status.state));
  return servers.length === 0 ? undefined : toLine(servers, withReason);
}

function toLine(servers: readonly MissingServer[], toText: (server: MissingServer) => string): string {
  const more = servers.length - MOST_NAMED;
  const names = servers.slice(0, MOST_NAMED).map(toText).join(", ");
  return `Not available: ${names}${more > 0 ? ` and ${more} more` : ""}.`;
}

function withReason({ domain, status: { state, reason }, part = "" }: MissingServer): string {
  const most = WAITS_FOR_PERSON.includes(state) ? COMMAND_CHARS : REASON_CHARS;
  return `${domain} [${part}${state}: ${cutText(reason, most)}]`;
}

const missingFrom = memoizeByObject((shown: readonly Entry[]): readonly MissingServer[] => {
  const domains = Map.groupBy(shown, ({ domain }) => domain);
  const servers = [...domains].flatMap(([domain, entries]) => toMissing(domain, entries));
  const rank = ({ status }: MissingServer) => Number(!WAITS_FOR_PERSON.includes(status.state));
  return servers.sort((one, other) => rank(one) - rank(other));
});

/** A server is missing if none of its entries can be used, or if some wait for approval. */
function toMissing(domain: string, entries: readonly Entry[]): MissingServer[] {
  const unusable = entries.flatMap((entry) => knownStatus(entry) ?? []);
  const isWhole = unusable.length === entries.length;
  const waiting = unusable.filter(({ state }) => state === "quarantined");
  const status = waiting[0] ?? (isWhole ? unusable[0] : undefined);
  // Servers that are starting have a sentence of their own.
  if (status === undefined || status.state === "starting") return [];
  return [{ domain, status, ...(!isWhole && { part: `${waiting.length} of ${entries.length} entries ` }) }];
}
