import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { settingsPath } from "../config/settings-path.ts";
import { defaultConfig, isJsonConfig } from "./config-files.ts";

/**
 * The JSON config that the daemon serves: the named one, or the person's own. Undefined where a folder adds code or
 * servers of its own: that needs a process of its own.
 */
export function configOfDaemon(given: string | undefined): string | undefined {
  if (given !== undefined) return isJsonConfig(given) ? given : undefined;
  const own = settingsPath(homedir());
  const folder = process.cwd();
  const project = settingsPath(folder);
  const isPlain = defaultConfig(folder) === undefined && (resolve(project) === own || !existsSync(project));
  return isPlain && existsSync(own) ? own : undefined;
}
