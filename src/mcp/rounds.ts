import type { ApprovalRequest } from "../calls/decide-call.ts";
import type { Principal } from "../schema/principal.ts";
import { mintHandle } from "../session/mint-handle.ts";
import { createFairCache } from "../util/fair-cache.ts";
import { createSealer, type Sealer } from "./sealed-state.ts";

/** State that a round leaves with the client for the next one. Both kinds are bound to the exact call. */
export type RoundState =
  | { readonly kind: "approval"; readonly call: string; readonly nonce: string; readonly resume?: string }
  | { readonly kind: "tool"; readonly call: string; readonly nonce: string; readonly state: string };

export interface RoundsOptions {
  readonly secret?: string | Uint8Array;
  /** How long a person has to answer. */
  readonly ttlMs?: number;
  readonly now?: () => number;
}

/** States of calls that take several rounds. */
export interface Rounds extends Sealer<RoundState> {
  approvalState(request: ApprovalRequest): string;
  /** State of a tool that has begun. */
  toolState(call: string, state: string, principal: Principal): string;
  /** True once for each approval that was asked for. A principal with too many in a short time gets false. */
  spend(nonce: string, principalId: string): boolean;
}

const TTL_MS = 10 * 60_000;
const SPENT_BY_ALL = 100_000;
const SPENT_BY_ONE = 10_000;

export function createRounds({ ttlMs = TTL_MS, ...options }: RoundsOptions = {}): Rounds {
  const sealer = createSealer<RoundState>({ ...options, ttlMs });
  // An expired state is refused anyway, so a nonce need not be remembered for longer. Until then it must be.
  const spent = createFairCache<true>({
    all: { entries: SPENT_BY_ALL, size: SPENT_BY_ALL },
    perOwner: { entries: SPENT_BY_ONE, size: SPENT_BY_ONE },
    ttlMs,
    // The clock of the states, so that a nonce is never forgotten before its state expires.
    now: options.now ?? Date.now,
  });
  return {
    ...sealer,
    approvalState: ({ hash, principal, resume }) =>
      sealer.seal(
        { kind: "approval", call: hash, nonce: mintHandle(""), ...(resume && { resume }) },
        principal.id,
      ),
    toolState: (call, state, principal) =>
      sealer.seal({ kind: "tool", call, nonce: mintHandle(""), state }, principal.id),
    spend: (nonce, principalId) => {
      if (spent.get(nonce, principalId) || !spent.hasRoom(principalId)) return false;
      spent.set(nonce, principalId, true);
      return true;
    },
  };
}
