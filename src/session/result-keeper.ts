import type { Json } from "../util/json.ts";
import { mintResultHandle, type ResultStore } from "./result-store.ts";

/** Gives large values their handles at once and stores them meanwhile. */
export interface ResultKeeper {
  /** The same object of the same principal gets the same handle. It can be read when `stored` has resolved. */
  keep(value: Json, principalId: string): { readonly handle: string; readonly stored: Promise<void> };
  /** Reads a value. Keeping it again gives the same handle. */
  read(handle: string, principalId: string): Promise<Json>;
}

const keepers = new WeakMap<ResultStore, ResultKeeper>();

/** The one keeper of a store. */
export function keeperOf(results: ResultStore): ResultKeeper {
  const known = keepers.get(results);
  if (known) return known;
  const made = createKeeper(results);
  keepers.set(results, made);
  return made;
}

function createKeeper(results: ResultStore): ResultKeeper {
  const handles = new WeakMap<object, { readonly handle: string; readonly principalId: string }>();

  function handleOf(value: Json, principalId: string): string {
    const known = isObject(value) ? handles.get(value) : undefined;
    if (known?.principalId === principalId) return known.handle;
    const handle = mintResultHandle();
    if (isObject(value)) handles.set(value, { handle, principalId });
    return handle;
  }

  return {
    keep: (value, principalId) => {
      const handle = handleOf(value, principalId);
      return { handle, stored: results.put(handle, value, principalId) };
    },
    read: async (handle, principalId) => {
      const value = await results.get(handle, principalId);
      if (isObject(value)) handles.set(value, { handle, principalId });
      return value;
    },
  };
}

function isObject(value: Json): value is Json & object {
  return typeof value === "object" && value !== null;
}
