import { contentHash } from "../../base/util/content-hash.ts";
import { memoizeByObject } from "../../base/util/memoize-by-object.ts";
import type { Entry } from "./entry.ts";

/** The hash of an entry as people and models see it. Servers' entries have that of their whole definition. */
export function definitionHash(entry: Entry): string {
  return entry.origin?.hash ?? ownHash(entry);
}

const ownHash = memoizeByObject(({ kind, op, route, name, description, lane, scopes, inputSchema }: Entry) =>
  contentHash({ kind, op, route, name, description, lane, scopes, inputSchema }),
);
