import { homedir } from "node:os";
import { type Place, placeOf } from "../daemon/place.ts";
import { cacheFolder, setStateFolder } from "./user-folders.ts";

/** The place of this person's daemon. */
export function daemonPlace(): Place {
  return placeOf({ state: setStateFolder(), cache: cacheFolder(), home: homedir() });
}
