import { existsSync } from "node:fs";
import { join } from "node:path";
import { DEFAULT_CONFIGS } from "../config/default-configs.ts";

/** The config module of a folder. */
export function defaultConfig(folder: string): string | undefined {
  return DEFAULT_CONFIGS.map((file) => join(folder, file)).find((path) => existsSync(path));
}

/** Whether a config is a JSON file and no module. */
export function isJsonConfig(path: string | undefined): path is string {
  return path !== undefined && /\.jsonc?$/i.test(path);
}
