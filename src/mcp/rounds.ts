import type { ApprovalRequest } from "../calls/decide-call.ts";
import type { Principal } from "../schema/principal.ts";
import { mintHandle } from "../session/mint-handle.ts";
import { APPROVAL_MS, type SpentApprovals } from "../session/spent-approvals.ts";
import { createSealer, type Sealer } from "./sealed-state.ts";

/** State that a round leaves with the client for the next one. Both kinds are bound to the exact call. */
export type RoundState =
  | { readonly kind: "approval"; readonly call: string; readonly nonce: string; readonly resume?: string }
  | { readonly kind: "tool"; readonly call: string; readonly nonce: string; readonly state: string };

/** States of calls that take several rounds. */
export interface Rounds extends Sealer<RoundState> {
  approvalState(request: ApprovalRequest): string;
  /** State of a tool that has begun. */
  toolState(call: string, state: string, principal: Principal): string;
  /** True once for each approval that was asked for. A principal with too many in a short time gets false. */
  spend(nonce: string, principalId: string): Promise<boolean>;
}

const TTL_MS = 10 * 60_000;

/** `ttlMs` is how long a person has to answer, at most an hour. */
export function createRounds({ secret, spend }: SpentApprovals, ttlMs = TTL_MS): Rounds {
  const sealer = createSealer<RoundState>({ secret, ttlMs: Math.min(ttlMs, APPROVAL_MS) });
  return {
    ...sealer,
    approvalState: ({ hash, principal, resume }) =>
      sealer.seal(
        { kind: "approval", call: hash, nonce: mintHandle(""), ...(resume && { resume }) },
        principal.id,
      ),
    toolState: (call, state, principal) =>
      sealer.seal({ kind: "tool", call, nonce: mintHandle(""), state }, principal.id),
    spend,
  };
}
