import type { View } from "../access/view.ts";
import { findAddressed } from "../operations/find-addressed.ts";
import type { Entry } from "../schema/entry.ts";

/** Calls that somebody has to approve first. */
export function asksFirst(entry: Entry): boolean {
  return entry.kind === "tool" && (entry.requiresConfirmation || entry.lane === "destructive");
}

/** Whether the input of an operation would have something run that somebody has to approve first. */
export function operationAsksFirst(operation: string, input: unknown, view: View): boolean {
  const asking = entriesIn(operation, input, view).filter(asksFirst);
  if (operation === "get") return asking.length > 0;
  const { dry_run } = (input ?? {}) as { readonly dry_run?: unknown };
  if (operation !== "exec" || dry_run === true) return false;
  // Destructive tools run dry unless told otherwise.
  return asking.some(({ lane }) => dry_run === false || lane !== "destructive");
}

/** The entries that an operation with this input would run. */
export function entriesIn(operation: string, input: unknown, view: View): Entry[] {
  const { op, route, routes } = (input ?? {}) as Readonly<Record<string, unknown>>;
  const requests: readonly unknown[] = Array.isArray(routes) ? routes : [];
  const addresses = [op, route, ...requests.map((request) => (request as { route?: unknown } | null)?.route)];
  const entries = addresses.flatMap((address) =>
    typeof address === "string" ? (findAddressed(address, view.find)?.entry ?? []) : [],
  );
  return operation === "get" ? entries.filter(({ lane }) => lane === "read") : entries;
}
