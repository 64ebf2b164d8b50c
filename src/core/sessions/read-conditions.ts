import type { Entry } from "../nouns/entry.ts";
import type { Principal } from "../nouns/principal.ts";

/** Conditions to read a kept value: the caller has these scopes, and its view has these routes. */
export interface ReadConditions {
  readonly scopes: readonly string[];
  readonly routes: readonly string[];
  /** The version of the view that it lists. Another view lacks some of it, or has more. */
  readonly version?: string;
}

/** The view of a caller, as far as kept things need it. */
export interface ResultReader {
  readonly principal: Principal;
  readonly version: string;
  find(route: string): object | undefined;
}

export type NeededEntry = Pick<Entry, "route" | "scopes">;

/** The needs of what one entry returned. */
export function needsEntry({ scopes, route }: NeededEntry): ReadConditions {
  return { scopes, routes: [route] };
}

/** The needs of something that a caller made: any of its scopes, and the entries that it called, may be in it. */
export function needsAll(
  { scopes }: Principal,
  called: readonly Pick<NeededEntry, "route">[],
): ReadConditions {
  return { scopes, routes: called.map(({ route }) => route) };
}

/** The needs of a listing of all that a caller sees. */
export function needsView({ scopes }: Principal, version: string): ReadConditions {
  return { scopes, routes: [], version };
}

/** Whether a caller may still read it. Scopes are taken away from principals, and entries out of views. */
export function mayStillRead(sight: ResultReader, { scopes, routes, version }: ReadConditions): boolean {
  if (version !== undefined && version !== sight.version) return false;
  const hasScopes = scopes.every((scope) => sight.principal.scopes.includes(scope));
  return hasScopes && routes.every((route) => sight.find(route) !== undefined);
}
