import type { Entry } from "../schema/entry.ts";
import { contentHash } from "../util/content-hash.ts";

const hashes = new WeakMap<Entry, string>();

/** The hash of an entry as people and models see it. Servers' entries have that of their whole definition. */
export function definitionHash(entry: Entry): string {
  if (entry.origin) return entry.origin.hash;
  const known = hashes.get(entry);
  if (known !== undefined) return known;
  const { kind, op, route, name, description, lane, scopes, inputSchema } = entry;
  const made = contentHash({ kind, op, route, name, description, lane, scopes, inputSchema });
  hashes.set(entry, made);
  return made;
}
