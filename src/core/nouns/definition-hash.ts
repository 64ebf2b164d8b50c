import { contentHash } from "../../base/util/content-hash.ts";
import { memoizeByObject } from "../../base/util/memoize-by-object.ts";
import type { Entry } from "./entry.ts";

/** The hash of an entry as people and models see it. For entries of servers it covers the whole definition. */
export function definitionHash(entry: Entry): string {
  return entry.origin?.hash ?? ownHash(entry);
}

const ownHash = memoizeByObject(({ kind, op, route, name, description, lane, scopes, inputSchema }: Entry) =>
  contentHash({ kind, op, route, name, description, lane, scopes, inputSchema }),
);
