import { join } from "node:path";
import { type Consents, createConsents } from "../access/consents.ts";
import { setStateFolder } from "./user-folders.ts";

/** Opens the consents to start servers that all commands share. */
export function openConsents(): Consents {
  return createConsents(join(setStateFolder(), "consents.json"));
}
