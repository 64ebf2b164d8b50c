import { join } from "node:path";
import type { LoadedSettings } from "../config/load-settings.ts";
import { fromMcpConfig } from "../sources/mcp/from-mcp-config.ts";
import type { McpSource, McpSourceOptions } from "../sources/mcp/mcp-source.ts";
import { field, fieldsOf } from "../util/fields.ts";
import { reasonOf } from "../util/reason-of.ts";
import { openConsents } from "./open-consents.ts";
import { withSecrets } from "./open-secrets.ts";
import { sortServers } from "./sort-servers.ts";
import { cacheFolder } from "./user-folders.ts";

/** Options of servers that a file names: none starts before a person has consented to it. */
export function serverOptions(trusted: boolean, given: McpSourceOptions = {}): McpSourceOptions {
  const consents = openConsents();
  return {
    ...given,
    cacheDirectory: join(cacheFolder(), "listings"),
    trusted,
    variables: withSecrets(given.environment ?? process.env),
    mayStart: (program) => consents.isGiven(program),
  };
}

/**
 * One source for each server of the settings. The person's own servers start in the home folder, those of a project
 * in the project, so that the folder that a command happens to stand in decides nothing.
 */
export function settingsServers(
  { settings: { mcpServers, overrides, profiles }, sources, trusted: isProjectTrusted }: LoadedSettings,
  folders: { readonly home: string; readonly project: string },
  options: McpSourceOptions,
  report: (sentence: string) => void,
): McpSource[] {
  const project = sources.find(({ from }) => from === "project")?.value.mcpServers ?? {};
  const placed = Object.entries(mcpServers).map(([name, config]) => {
    const cwd = isProjectTrusted && Object.hasOwn(project, name) ? folders.project : folders.home;
    return [name, field(config, "command") === undefined ? config : { cwd, ...fieldsOf(config) }];
  });
  const { usable, broken, notes } = sortServers({ servers: Object.fromEntries(placed), overrides }, folders);
  for (const { error } of broken) report(`${reasonOf(error)} The others are used.`);
  for (const { name, note } of notes) report(`The server ${name}: ${note}`);
  return fromMcpConfig({ mcpServers: usable, overrides, profiles }, options);
}
