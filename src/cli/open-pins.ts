import { join } from "node:path";
import { createPins, type Pins } from "../access/pins.ts";
import { setStateFolder } from "./user-folders.ts";

const PLAIN = /^[\w./@:+-]+$/;

/** Opens the approvals that all commands share. A pending entry names the command that approves it. */
export function openPins(config?: string): Pins {
  const rest =
    config === undefined ? "" : ` --config ${PLAIN.test(config) ? config : JSON.stringify(config)}`;
  return createPins({
    path: join(setStateFolder(), "pins.json"),
    advise: ({ route, source, state }) =>
      `run: keyhole pins ${state === "changed" ? `diff ${route}` : `approve ${source}`}${rest}`,
  });
}
