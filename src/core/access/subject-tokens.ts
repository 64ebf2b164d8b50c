import type { Principal } from "../nouns/principal.ts";

/** Callers' bearer tokens, to exchange (RFC 8693). Not in the principal, which is stored, shown and logged. */
const tokens = new WeakMap<Principal, string>();

export function keepSubjectToken(principal: Principal, token: string): void {
  tokens.set(principal, token);
}

export function subjectTokenOf(principal: Principal): string | undefined {
  return tokens.get(principal);
}
