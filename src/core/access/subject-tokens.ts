import type { Principal } from "../nouns/principal.ts";

/**
 * The bearer tokens that people called with, for an exchange against a token of another audience (RFC 8693). They
 * stay out of the principal, which is stored, shown and logged.
 */
const tokens = new WeakMap<Principal, string>();

export function keepSubjectToken(principal: Principal, token: string): void {
  tokens.set(principal, token);
}

export function subjectTokenOf(principal: Principal): string | undefined {
  return tokens.get(principal);
}
