import type { View } from "../access/view.ts";
import { findAddressed } from "../operations/find-addressed.ts";
import type { Entry } from "../schema/entry.ts";

/** Calls that somebody has to approve first. */
export function asksFirst(entry: Entry): boolean {
  return entry.kind === "tool" && (entry.requiresConfirmation || entry.lane === "destructive");
}

/** Whether the input of an operation would have something run that somebody has to approve first. */
export function operationAsksFirst(operation: string, input: unknown, view: View): boolean {
  const asking = entriesIn(input, view).filter(asksFirst);
  // What it may not run is refused anyway.
  if (operation === "get") return asking.some(({ lane }) => lane === "read");
  const { dry_run } = (input ?? {}) as { readonly dry_run?: unknown };
  if (operation !== "exec" || dry_run === true) return false;
  // Destructive tools run dry unless told otherwise.
  return asking.some(({ lane }) => dry_run === false || lane !== "destructive");
}

/** The entries that the input of an operation names. */
export function entriesIn(input: unknown, view: View): Entry[] {
  const { op, route, routes } = (input ?? {}) as Readonly<Record<string, unknown>>;
  const requests: readonly unknown[] = Array.isArray(routes) ? routes : [];
  const addresses = [op, route, ...requests.map((request) => (request as { route?: unknown } | null)?.route)];
  return addresses.flatMap((address) =>
    typeof address === "string" ? (findAddressed(address, view.find)?.entry ?? []) : [],
  );
}
