import { type Folders, fillFolders, mapTexts } from "../clients/read-server.ts";
import {
  isSwitchedOff,
  readServerConfig,
  SERVER_ALIASES,
  SERVER_FIELDS,
} from "../sources/mcp/config/server-config.ts";
import type { Fields } from "../util/fields.ts";
import { findSlip } from "../util/find-slip.ts";

export interface SortedServers {
  /** The servers that can be used, with the folders that their texts name filled in. */
  readonly usable: Fields;
  readonly broken: readonly { readonly name: string; readonly config: unknown; readonly error: unknown }[];
  /** Fields of usable servers that are probably misspelt. */
  readonly slips: readonly { readonly name: string; readonly given: string; readonly meant: string }[];
}

const KNOWN = [...SERVER_FIELDS, ...SERVER_ALIASES];

/** Tells the servers that can be used from the broken ones. Those that are switched off are left out. */
export function sortServers(servers: Fields, folders: Folders): SortedServers {
  const usable = new Map<string, unknown>();
  const broken: SortedServers["broken"][number][] = [];
  const slips: SortedServers["slips"][number][] = [];
  for (const [name, config] of Object.entries(servers)) {
    if (isSwitchedOff(config)) continue;
    try {
      const filled = mapTexts(config, (text) => fillFolders(name, text, folders));
      readServerConfig(name, filled);
      usable.set(name, filled);
      const slip = findSlip(Object.keys(config as object), KNOWN);
      if (slip) slips.push({ name, ...slip });
    } catch (error) {
      broken.push({ name, config, error });
    }
  }
  return { usable: Object.fromEntries(usable), broken, slips };
}
