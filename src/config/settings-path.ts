import { join } from "node:path";

/** The settings file of a folder. */
export function settingsPath(folder: string): string {
  return join(folder, ".keyhole", "settings.json");
}

/** The folders of a folder that hold commands of the chat as Markdown files. */
export const COMMAND_FOLDERS = [join(".keyhole", "commands"), join(".claude", "commands")];

/** The file of a folder that replaces the agent's own prompt. */
export function promptPath(folder: string): string {
  return join(folder, ".keyhole", "prompt.md");
}
