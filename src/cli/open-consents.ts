import { join } from "node:path";
import { type Consents, createConsents } from "../access/consents.ts";
import type { ServerProgram } from "../schema/server-program.ts";
import { recordDecisions } from "./open-audit.ts";
import { setStateFolder } from "./user-folders.ts";

/** Opens the consents to start servers that all commands share. The audit log records each. */
export function openConsents(): Consents {
  const consents = createConsents(join(setStateFolder(), "consents.json"));
  if (consents.damage) console.error(consents.damage);
  return {
    get damage() {
      return consents.damage;
    },
    isGiven: consents.isGiven,
    give: async (programs) => {
      await consents.give(programs);
      await recordDecisions("allowed", "server", programs.map(toDecision));
    },
    revoke: async (programs) => {
      const given = programs.filter(consents.isGiven);
      const count = await consents.revoke(given);
      await recordDecisions("revoked", "server", given.map(toDecision));
      return count;
    },
  };
}

function toDecision({ label, hash }: ServerProgram) {
  return { name: label, digest: hash };
}
