import { homedir } from "node:os";
import { join } from "node:path";

/** Where what must survive a restart is kept, unless `KEYHOLE_STATE` names another folder. Sources read it there. */
export function setStateFolder(): void {
  const base = process.env.XDG_STATE_HOME || join(homedir(), ".local", "state");
  process.env.KEYHOLE_STATE ||= join(base, "keyhole");
}
