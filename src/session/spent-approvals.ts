import { randomBytes } from "node:crypto";
import { createFairCache } from "../util/fair-cache.ts";

/** Makes sure that an approval of a call counts once. Gateways that serve the same clients share it. */
export interface SpentApprovals {
  /** Seals the approvals that clients carry between rounds. */
  readonly secret: Uint8Array;
  /** True once for each nonce. A principal with too many in an hour gets false. */
  spend(nonce: string, principalId: string): Promise<boolean>;
}

/** No approval may be valid for longer, because its nonce is forgotten then. */
export const APPROVAL_MS = 60 * 60_000;
export const MOST_APPROVALS = { all: 100_000, perPrincipal: 10_000 };
export const SECRET_BYTES = 32;

/** Keeps them in memory, under a random secret: approvals end with the process. */
export function createSpentApprovals(now: () => number = Date.now): SpentApprovals {
  const { all, perPrincipal } = MOST_APPROVALS;
  const spent = createFairCache<true>({
    all: { entries: all, size: all },
    perOwner: { entries: perPrincipal, size: perPrincipal },
    ttlMs: APPROVAL_MS,
    now,
  });
  return {
    secret: randomBytes(SECRET_BYTES),
    spend: async (nonce, principalId) => {
      if (spent.get(nonce, principalId) || !spent.hasRoom(principalId)) return false;
      spent.set(nonce, principalId, true);
      return true;
    },
  };
}
