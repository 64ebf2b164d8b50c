import { problem } from "../../base/problems/problem.ts";
import type { Json } from "../../base/util/json.ts";
import { memoizeByObject } from "../../base/util/memoize-by-object.ts";
import type { Principal } from "../nouns/principal.ts";
import {
  mayStillRead,
  type NeededEntry,
  needsAll,
  needsEntry,
  needsView,
  type ReadConditions,
  type ResultReader,
} from "../sessions/read-conditions.ts";
import { mintResultHandle, type ResultStore } from "./result-store.ts";

/** The origin of a value: one entry, everything that its caller saw and called, or a listing of this view. */
export type ResultOrigin = NeededEntry | readonly Pick<NeededEntry, "route">[] | { readonly version: string };

/** The keeper of a store: always the same object. */
export const keeperOf = memoizeByObject(createKeeper);

/**
 * Returns handles of large values at once while they are being stored. A value is stored with the conditions for
 * reading it: its entry, or everything that its caller saw, must still be visible. Otherwise the handle counts as
 * unknown.
 */
function createKeeper(results: ResultStore) {
  const handles = new WeakMap<object, { readonly handle: string; readonly key: string }>();

  function handleOf(value: Json, key: string): string {
    const cached = isObject(value) ? handles.get(value) : undefined;
    if (cached?.key === key) return cached.handle;
    const handle = mintResultHandle();
    if (isObject(value)) handles.set(value, { handle, key });
    return handle;
  }

  return {
    /** The same object of the same principal has one handle. It can be read once `stored` resolves. */
    keep: (value: Json, principal: Principal, origin: ResultOrigin = []) => {
      const { id } = principal;
      const needs = needsOf(principal, origin);
      const handle = handleOf(value, keyOf(id, needs));
      const record = { needs: { ...needs, scopes: [...needs.scopes], routes: [...needs.routes] }, value };
      return { handle, needs, stored: results.put(handle, record, id) };
    },
    /** Reads a value. `keep` gives it the same handle again. */
    read: async (handle: string, sight: ResultReader): Promise<Json> => {
      const { id } = sight.principal;
      const stored = await results.get(handle, id);
      if (!isKept(stored) || !mayStillRead(sight, stored.needs)) throw problem("UNKNOWN_HANDLE", { handle });
      const { value, needs } = stored;
      if (isObject(value)) handles.set(value, { handle, key: keyOf(id, needs) });
      return value;
    },
  };
}

function needsOf(principal: Principal, origin: ResultOrigin): ReadConditions {
  if ("version" in origin) return needsView(principal, origin.version);
  return "route" in origin ? needsEntry(origin) : needsAll(principal, origin);
}

function keyOf(principalId: string, { scopes, routes, version }: ReadConditions): string {
  return JSON.stringify([principalId, scopes, routes, version]);
}

type StoredValue = Json & { readonly needs: ReadConditions; readonly value: Json };

/** A value without conditions is never returned. */
function isKept(kept: Json): kept is StoredValue {
  return isObject(kept) && Object.hasOwn(kept, "needs") && Object.hasOwn(kept, "value");
}

function isObject(value: Json): value is Json & object {
  return typeof value === "object" && value !== null;
}
