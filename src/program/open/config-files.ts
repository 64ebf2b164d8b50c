import { existsSync } from "node:fs";
import { join } from "node:path";

/** Configs that commands load from a trusted folder they stand in, the first that exists. */
export const DEFAULT_CONFIGS = ["keyhole.config.ts", "keyhole.config.js", "keyhole.config.mjs"];

export function settingsPath(folder: string): string {
  return join(folder, ".keyhole", "settings.json");
}

export function defaultConfig(folder: string): string | undefined {
  return DEFAULT_CONFIGS.map((file) => join(folder, file)).find((path) => existsSync(path));
}

/** Whether a config is a JSON file and no module. */
export function isJsonConfig(path: string | undefined): path is string {
  return path !== undefined && /\.jsonc?$/i.test(path);
}
