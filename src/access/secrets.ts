import { z } from "zod";
import { createRecordStore } from "./record-store.ts";

/** Values that configs refer to by name, so that no config has to contain them. */
export interface Secrets {
  names(): readonly string[];
  get(name: string): string | undefined;
  set(name: string, value: string): Promise<void>;
  /** Resolves to false if there is no such secret. */
  remove(name: string): Promise<boolean>;
  /** Set if the store was damaged, so that it has no values. */
  readonly damage: string | undefined;
}

/** Names that `${secret:NAME}` and `${input:NAME}` may have. */
export const SECRET_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;

/** Keeps secrets in a file that only its owner can read. */
export function createSecrets(path: string): Secrets {
  const record = z.object({ value: z.string() });
  const store = createRecordStore({ path, format: 1, record, counted: "set" });
  return {
    get damage() {
      return store.damage;
    },
    names: () => {
      void store.refresh();
      return store.keys().toSorted();
    },
    get: (name) => {
      void store.refresh();
      return store.get(name)?.value;
    },
    set: (name, value) => store.change(new Map([[name, { value }]])),
    remove: async (name) => {
      await store.refresh();
      if (store.get(name) === undefined) return false;
      await store.change(new Map([[name, undefined]]));
      return true;
    },
  };
}
