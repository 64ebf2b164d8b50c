import { problem } from "../../schema/problem.ts";
import { type Listed, toDefinition } from "./definition.ts";
import type { Listing } from "./listing.ts";
import type { PackedTool } from "./packed-tools.ts";

/** Refuses a call if the definition has changed since it was listed. */
export function checkOffered(
  listed: Listed,
  among: (listing: Listing) => readonly (Listed | PackedTool)[],
  route: string,
  { trusted }: { readonly trusted: boolean },
): (listing: Listing) => void {
  const { hash } = toDefinition(listed);
  return (listing) => {
    if (trusted) return;
    // The name is part of the definition and compared first, because a server may have thousands of tools.
    if (among(listing).some((other) => other.name === listed.name && hashOf(other) === hash)) return;
    const reason = "the server no longer offers it as it was listed";
    throw problem("UNAVAILABLE", { name: route, state: "quarantined", reason });
  };
}

function hashOf(listed: Listed | PackedTool): string {
  return "hash" in listed && "read" in listed
    ? (listed as PackedTool).hash
    : toDefinition(listed as Listed).hash;
}
