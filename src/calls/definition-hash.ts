import type { Entry } from "../schema/entry.ts";
import { contentHash } from "../util/content-hash.ts";
import { oncePer } from "../util/once-per.ts";

/** The hash of an entry as people and models see it. Servers' entries have that of their whole definition. */
export function definitionHash(entry: Entry): string {
  return entry.origin?.hash ?? ownHash(entry);
}

const ownHash = oncePer(({ kind, op, route, name, description, lane, scopes, inputSchema }: Entry) =>
  contentHash({ kind, op, route, name, description, lane, scopes, inputSchema }),
);
