import { join } from "node:path";
import { type Consents, createConsents } from "../access/consents.ts";
import { setStateFolder } from "./user-folders.ts";

/** Opens the consents to start servers that all commands share. */
export function openConsents(): Consents {
  const consents = createConsents(join(setStateFolder(), "consents.json"));
  if (consents.damage) console.error(consents.damage);
  return consents;
}
