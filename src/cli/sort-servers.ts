import type { Dialect } from "../clients/client.ts";
import { STANDARD } from "../clients/dialects.ts";
import { type Folders, fillFolders, mapTexts, toOwnFields } from "../clients/read-server.ts";
import { readOverride } from "../sources/mcp/config/overrides.ts";
import {
  invalid,
  isSwitchedOff,
  readServerConfig,
  SERVER_FIELDS,
} from "../sources/mcp/config/server-config.ts";
import { type Fields, isFields } from "../util/fields.ts";

export interface SortedServers {
  /** The servers that can be used, in Keyhole's fields, with the folders that their texts name filled in. */
  readonly usable: Fields;
  readonly broken: readonly { readonly name: string; readonly config: unknown; readonly error: unknown }[];
  /** Fields of usable servers that are unknown or not honoured. One sentence each. */
  readonly notes: readonly { readonly name: string; readonly key: string; readonly note: string }[];
}

/** The fields of a server in a config that people paste: those of other clients, and Keyhole's own as they are. */
const PASTED: Dialect["fields"] = {
  ...Object.fromEntries(SERVER_FIELDS.map((name) => [name, { as: name }])),
  ...STANDARD.fields,
  type: { as: "type" },
};

/** Tells the servers that can be used from the broken ones. Those that are switched off are left out. */
export function sortServers(
  { servers, overrides }: { readonly servers: Fields; readonly overrides?: unknown },
  folders: Folders,
): SortedServers {
  const usable = new Map<string, unknown>();
  const broken: SortedServers["broken"][number][] = [];
  const notes: SortedServers["notes"][number][] = [];
  for (const [name, config] of Object.entries(servers)) {
    if (isSwitchedOff(config)) continue;
    try {
      const told: SortedServers["notes"][number][] = [];
      if (!isFields(config)) throw invalid(name, "it is not an object");
      const { own, missing } = toOwnFields(config, PASTED, (note, key) => told.push({ name, key, note }));
      if (missing !== undefined) throw invalid(name, `Keyhole has no ${missing}`);
      const filled = mapTexts(own, (text) => fillFolders(name, text, folders));
      readServerConfig(name, filled);
      readOverride(overrides, name);
      usable.set(name, filled);
      notes.push(...told);
    } catch (error) {
      broken.push({ name, config, error });
    }
  }
  return { usable: Object.fromEntries(usable), broken, notes };
}
