import type { Principal } from "../../schema/principal.ts";

/** The scope of people who run the gateway: they see all callers, approve, start and refresh. */
export const ADMIN_SCOPE = "keyhole:admin";

export function isAdmin({ scopes }: Principal): boolean {
  return scopes.includes(ADMIN_SCOPE);
}
