import { timingSafeEqual } from "node:crypto";

/** Constant-time: timing reveals only the length, which is no secret. */
export function isSameSecret(sent: string, expected: string): boolean {
  const [one, other] = [Buffer.from(sent), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
