import type { AuthInfo } from "@modelcontextprotocol/server";
import type { Principal } from "../schema/principal.ts";

/** The principal as the SDK carries it. The token itself is left behind: nothing further in needs it. */
export function toAuthInfo(principal: Principal): AuthInfo {
  return { token: "", clientId: principal.id, scopes: [...principal.scopes], extra: { principal } };
}

export function fromAuthInfo(auth: AuthInfo | undefined): Principal | undefined {
  return auth?.extra?.principal as Principal | undefined;
}
