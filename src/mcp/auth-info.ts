import type { AuthInfo } from "@modelcontextprotocol/server";
import type { Principal } from "../schema/principal.ts";

/** Wraps the principal for the SDK. The token is dropped, because nothing behind this needs it. */
export function toAuthInfo(principal: Principal): AuthInfo {
  return { token: "", clientId: principal.id, scopes: [...principal.scopes], extra: { principal } };
}

export function fromAuthInfo(auth: AuthInfo | undefined): Principal | undefined {
  return auth?.extra?.principal as Principal | undefined;
}
