import { homedir } from "node:os";
import { join } from "node:path";

/** Where what must survive a restart is kept, unless `KEYHOLE_STATE` names another folder. Sources read it there. */
export function setStateFolder(): string {
  const base = process.env.XDG_STATE_HOME || join(homedir(), ".local", "state");
  process.env.KEYHOLE_STATE ||= join(base, "keyhole");
  return process.env.KEYHOLE_STATE;
}

/** Where what takes long to work out is kept. */
export function cacheFolder(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "keyhole");
}
