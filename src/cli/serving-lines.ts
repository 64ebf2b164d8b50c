import type { EntryStatus } from "../schema/entry.ts";
import { toVisibleLine } from "../util/visible-text.ts";

export interface ServingState {
  readonly label: string;
  readonly entries: number;
  readonly status: EntryStatus | undefined;
  /** Definitions that wait for an approval. */
  readonly waiting: number;
}

/** Tells a person in a terminal what is served: the servers that are up, failed and wait, and where clients go. */
export function servingLines(servers: readonly ServingState[], url: string | undefined): string[] {
  const up = servers.filter(({ status }) => status === undefined);
  const others = servers.filter(({ status }) => status !== undefined);
  return [
    ...(servers.length > 0 ? [`${up.length} of ${servers.length} servers are up.`] : []),
    ...up.map(({ label, entries, waiting }) =>
      toVisibleLine(
        `  ✓ ${label}  ${entries} entries${waiting > 0 ? `, ${waiting} wait for approval: keyhole approve ${label}` : ""}`,
      ),
    ),
    ...others.map(({ label, status }) => toVisibleLine(`  ${failed(label, status!)}`)),
    url === undefined
      ? "This is an MCP server on stdio, which clients start by themselves: keyhole connect CLIENT writes the entry, and --http serves an address instead."
      : `Point a client at ${url} with the header Authorization: Bearer TOKEN. Stop with Ctrl-C.`,
  ];
}

function failed(label: string, { state, reason }: EntryStatus): string {
  if (state === "quarantined") return `! ${label}  waits for your consent: keyhole servers allow ${label}`;
  if (state === "needs_login") return `! ${label}  ${reason}: keyhole login ${label}`;
  if (state === "starting") return `… ${label}  is starting`;
  return `✗ ${label}  ${reason}: keyhole doctor says how to fix it`;
}
