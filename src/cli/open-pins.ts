import { join } from "node:path";
import { createPins, type Pins } from "../access/pins.ts";
import { setStateFolder } from "./user-folders.ts";

/** Opens the approvals that all commands share. */
export function openPins(): Pins {
  return createPins({ path: join(setStateFolder(), "pins.json") });
}
