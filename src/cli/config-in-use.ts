import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { DEFAULT_CONFIGS } from "../config/default-configs.ts";
import { settingsPath } from "../config/settings-path.ts";

/** The config that a command uses: the named one, or that of the folder, or the person's own settings. */
export function configInUse(given: string | undefined): string | undefined {
  return given ?? defaultConfig() ?? personalConfig();
}

/** The config of this folder. */
export function defaultConfig(): string | undefined {
  return DEFAULT_CONFIGS.find((file) => existsSync(file));
}

/** The person's own settings. */
export function personalConfig(): string | undefined {
  const path = settingsPath(homedir());
  return existsSync(path) ? path : undefined;
}

/** Whether a config is that of an MCP client and no module. */
export function isJsonConfig(path: string | undefined): boolean {
  return path !== undefined && /\.jsonc?$/i.test(path);
}
