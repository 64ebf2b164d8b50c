import { problem } from "../../schema/problem.ts";
import { type Listed, toDefinition } from "./definition.ts";
import type { Listing } from "./listing.ts";

/** Refuses a call if the definition has changed since it was listed. */
export function checkOffered(
  listed: Listed,
  among: (listing: Listing) => readonly Listed[],
  route: string,
  { trusted }: { readonly trusted: boolean },
): (listing: Listing) => void {
  const { hash } = toDefinition(listed);
  return (listing) => {
    if (trusted || among(listing).some((other) => other === listed || toDefinition(other).hash === hash))
      return;
    const reason = "the server no longer offers it as it was listed";
    throw problem("UNAVAILABLE", { name: route, state: "quarantined", reason });
  };
}
