import { homedir } from "node:os";
import { join } from "node:path";

/** Sets `KEYHOLE_STATE`, the folder of state that survives restarts, unless it is set. Sources read it from there. */
export function setStateFolder(): string {
  const base = process.env.XDG_STATE_HOME || join(homedir(), ".local", "state");
  process.env.KEYHOLE_STATE ||= join(base, "keyhole");
  return process.env.KEYHOLE_STATE;
}

/** The folder of recipes, which a person may edit. */
export function recipesFolder(): string {
  return join(homedir(), ".keyhole", "recipes");
}

/** The folder of caches. */
export function cacheFolder(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "keyhole");
}
