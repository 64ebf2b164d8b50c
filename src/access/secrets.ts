import { z } from "zod";
import type { Keychain } from "./keychain.ts";
import { createRecordStore } from "./record-store.ts";

/** Values that configs refer to by name, so that no config has to contain them. */
export interface Secrets {
  names(): readonly string[];
  get(name: string): string | undefined;
  /** Resolves to the place that keeps the value. */
  set(name: string, value: string): Promise<"keychain" | "file">;
  /** Resolves to false if there is no such secret. */
  remove(name: string): Promise<boolean>;
  /** The place of a secret; undefined if there is none of that name. */
  placeOf(name: string): "keychain" | "file" | undefined;
  /** Set if the store was damaged, so that it has no values. */
  readonly damage: string | undefined;
}

/** Names that `${secret:NAME}`, `${keychain:NAME}` and `${input:NAME}` may have. */
export const SECRET_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;

/**
 * Keeps secrets in the keychain if there is one, and otherwise in a file that only its owner can read. The file has
 * the names of all.
 */
export function createSecrets(path: string, keychain?: Keychain): Secrets {
  const record = z.union([z.object({ value: z.string() }), z.object({ place: z.literal("keychain") })]);
  const store = createRecordStore({ path, format: 1, record, counted: "set" });
  const find = (name: string) => {
    void store.refresh();
    return store.get(name);
  };
  return {
    get damage() {
      return store.damage;
    },
    names: () => {
      void store.refresh();
      return store.keys().toSorted();
    },
    get: (name) => {
      const found = find(name);
      return found && "value" in found ? found.value : found && keychain?.get(name);
    },
    placeOf: (name) => {
      const found = find(name);
      return found && ("value" in found ? "file" : "keychain");
    },
    set: async (name, value) => {
      const place = keychain?.set(name, value) ? "keychain" : "file";
      await store.change(new Map([[name, place === "keychain" ? { place } : { value }]]));
      return place;
    },
    remove: async (name) => {
      await store.refresh();
      const found = store.get(name);
      if (found === undefined) return false;
      if (!("value" in found)) keychain?.remove(name);
      await store.change(new Map([[name, undefined]]));
      return true;
    },
  };
}
