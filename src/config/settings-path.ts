import { join } from "node:path";

/** The settings file of a folder. */
export function settingsPath(folder: string): string {
  return join(folder, ".keyhole", "settings.json");
}
