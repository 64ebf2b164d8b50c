import type { Principal } from "../nouns/principal.ts";

/**
 * Bearer tokens of callers, to exchange for tokens of another audience (RFC 8693). They are no part of the principal,
 * which is stored, shown and logged.
 */
const tokens = new WeakMap<Principal, string>();

export function keepSubjectToken(principal: Principal, token: string): void {
  tokens.set(principal, token);
}

export function subjectTokenOf(principal: Principal): string | undefined {
  return tokens.get(principal);
}
