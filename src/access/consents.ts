import { z } from "zod";
import type { ServerProgram } from "../schema/server-program.ts";
import { createRecordStore } from "./record-store.ts";

/** Consents of a person to start servers. Each is bound to the hash of everything that the server runs. */
export interface Consents {
  /** Notices changes by other processes. */
  isGiven(program: ServerProgram): boolean;
  give(programs: readonly ServerProgram[]): Promise<void>;
  /** Takes consents back. Resolves to their number. */
  revoke(programs: readonly ServerProgram[]): Promise<number>;
  /** Set if the store was damaged, so that no server may start. */
  readonly damage: string | undefined;
}

const consentSchema = z.object({
  label: z.string(),
  /** Milliseconds since 1970. */
  givenAt: z.number(),
});

/** Keeps consents in a file. */
export function createConsents(path: string): Consents {
  const store = createRecordStore({ path, format: 1, record: consentSchema, counted: "allowed" });

  function isGiven({ hash }: ServerProgram): boolean {
    store.refresh();
    return store.get(hash) !== undefined;
  }

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
      const given = programs.filter(isGiven);
      await store.change(new Map(given.map(({ hash }) => [hash, undefined])));
      return given.length;
    },
  };
}
