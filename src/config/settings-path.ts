import { join } from "node:path";

/** The settings file of a folder. */
export function settingsPath(folder: string): string {
  return join(folder, ".keyhole", "settings.json");
}

/** The file of a folder that replaces the agent's own prompt. */
export function promptPath(folder: string): string {
  return join(folder, ".keyhole", "prompt.md");
}
