import type { AuthInfo } from "@modelcontextprotocol/server";
import type { Principal } from "../schema/principal.ts";
import type { Ended } from "./call-native.ts";

/** Wraps the principal for the SDK. The token is dropped, because nothing behind this needs it. */
export function toAuthInfo(principal: Principal, ended?: Ended): AuthInfo {
  return { token: "", clientId: principal.id, scopes: [...principal.scopes], extra: { principal, ended } };
}

/** A call that has ended in the fast lane before the SDK saw its request. */
export function endedIn(auth: AuthInfo | undefined): Ended | undefined {
  return auth?.extra?.ended as Ended | undefined;
}

export function fromAuthInfo(auth: AuthInfo | undefined): Principal | undefined {
  return auth?.extra?.principal as Principal | undefined;
}
