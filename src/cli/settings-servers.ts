import { join } from "node:path";
import type { Settings } from "../config/settings-schema.ts";
import { fromMcpConfig } from "../sources/mcp/from-mcp-config.ts";
import type { McpSource } from "../sources/mcp/mcp-source.ts";
import { cacheFolder } from "./user-folders.ts";

/** One source for each server of the settings. */
export function settingsServers({ mcpServers }: Settings, trusted: boolean): McpSource[] {
  return fromMcpConfig({ mcpServers }, { cacheDirectory: join(cacheFolder(), "listings"), trusted });
}
