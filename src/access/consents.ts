import { z } from "zod";
import type { ServerProgram } from "../schema/server-program.ts";
import { createRecordStore, type RecordStore } from "./record-store.ts";

/**
 * Consents of a person to start servers. Each is bound to the hash of everything that the server runs. A file
 * answers at once, a database later.
 */
export interface Consents<Given extends boolean | Promise<boolean> = boolean> {
  /** Reads the store, so that changes by others count. */
  isGiven(program: ServerProgram): Given;
  give(programs: readonly ServerProgram[]): Promise<void>;
  /** Takes consents back. Resolves to their number. */
  revoke(programs: readonly ServerProgram[]): Promise<number>;
  /** Set if the store was damaged, so that no server may start. */
  readonly damage: string | undefined;
}

export const consentSchema = z.object({
  label: z.string(),
  /** Milliseconds since 1970. */
  givenAt: z.number(),
});

type ConsentStore = RecordStore<z.infer<typeof consentSchema>>;

/** Keeps consents in a file. */
export function createConsents(path: string): Consents {
  const store = createRecordStore({ path, format: 1, record: consentSchema, counted: "allowed" });
  return createConsentsOver(store, ({ hash }) => {
    void store.refresh();
    return store.get(hash) !== undefined;
  });
}

export function createConsentsOver<Given extends boolean | Promise<boolean>>(
  store: ConsentStore,
  isGiven: (program: ServerProgram) => Given,
): Consents<Given> {
  return {
    get damage() {
      return store.damage;
    },
    isGiven,
    give: (programs) => {
      const givenAt = Date.now();
      return store.change(new Map(programs.map(({ hash, label }) => [hash, { label, givenAt }])));
    },
    revoke: async (programs) => {
      await store.refresh();
      const given = programs.filter(({ hash }) => store.get(hash) !== undefined);
      await store.change(new Map(given.map(({ hash }) => [hash, undefined])));
      return given.length;
    },
  };
}
