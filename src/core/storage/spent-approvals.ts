import { randomBytes } from "node:crypto";
import type { OpenStorage } from "../../base/util/storage.ts";
import { openMemoryStorage } from "./memory-storage.ts";

/** Makes every approval of a call count once. Gateways with the same clients share it. */
export interface SpentApprovals {
  /** Seals the approvals that clients carry between rounds. */
  readonly secret: Uint8Array;
  /** True once for each nonce. False for a principal with too many in an hour. */
  spend(nonce: string, principalId: string): Promise<boolean>;
}

/** Longest validity of an approval: after that its nonce is forgotten. */
export const APPROVAL_MS = 60 * 60_000;
const MOST_IN_MEMORY = 100_000;
const MOST_OF_PRINCIPAL = 10_000;
export const SECRET_BYTES = 32;

/** Stores spent approvals, by default in memory with a random secret: approvals then end with the process. */
export function createSpentApprovals(
  open: OpenStorage = openMemoryStorage,
  { secret = randomBytes(SECRET_BYTES) as Uint8Array, most = MOST_IN_MEMORY } = {},
): SpentApprovals {
  const spent = open<true>("approval", {
    all: { entries: most, size: Number.MAX_SAFE_INTEGER },
    perOwner: { entries: MOST_OF_PRINCIPAL, size: Number.MAX_SAFE_INTEGER },
    ttlMs: APPROVAL_MS,
    lasting: true,
  });
  return { secret, spend: (nonce, principalId) => spent.put(nonce, principalId, true) };
}
