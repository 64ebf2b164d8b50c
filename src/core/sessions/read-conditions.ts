import type { Entry } from "../nouns/entry.ts";
import type { Principal } from "../nouns/principal.ts";

/** Conditions to read a stored value: scopes of the caller, and routes in its view. */
export interface ReadConditions {
  readonly scopes: readonly string[];
  readonly routes: readonly string[];
  /** Set for the listing of a view: only callers with the same view may read it. */
  readonly version?: string;
}

/** The parts of a caller's view that stored values need. */
export interface ResultReader {
  readonly principal: Principal;
  readonly version: string;
  find(route: string): object | undefined;
}

export type NeededEntry = Pick<Entry, "route" | "scopes">;

export function needsEntry({ scopes, route }: NeededEntry): ReadConditions {
  return { scopes, routes: [route] };
}

/** Conditions to read a value that a caller made: it may contain data of all its scopes and called entries. */
export function needsAll(
  { scopes }: Principal,
  called: readonly Pick<NeededEntry, "route">[],
): ReadConditions {
  return { scopes, routes: called.map(({ route }) => route) };
}

/** Conditions to read a listing of everything a caller sees. */
export function needsView({ scopes }: Principal, version: string): ReadConditions {
  return { scopes, routes: [], version };
}

/** Whether a caller may still read a value: principals lose scopes, and views lose entries. */
export function mayStillRead(sight: ResultReader, { scopes, routes, version }: ReadConditions): boolean {
  if (version !== undefined && version !== sight.version) return false;
  const hasScopes = scopes.every((scope) => sight.principal.scopes.includes(scope));
  return hasScopes && routes.every((route) => sight.find(route) !== undefined);
}
