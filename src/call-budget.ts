import type { Limits } from "./operations/operation.ts";
import { problem } from "./schema/problem.ts";
import { type CallSession, isSessionAddress } from "./session/session-store.ts";
import { sumTokens } from "./session/tokens-by-cause.ts";

export interface CallBudget {
  readonly limits: Limits;
  /** Tokens left of the session's budget; infinite without one. */
  readonly tokensLeft: number;
}

/** The usual size of a token, for answers that only count tokens. */
const BYTES_PER_TOKEN = 4;

/**
 * Returns the limits of a call within the rest of its session's budget, shared by all its requests.
 *
 * @throws BUDGET_EXCEEDED if nothing is left, except for reading the session itself.
 */
export function callBudget(
  session: CallSession | undefined,
  given: Limits,
  targets: readonly string[],
): CallBudget {
  const limits = withinBytes(given);
  const limit = limits.sessionTokens;
  if (!session || limit === Number.POSITIVE_INFINITY) return { limits, tokensLeft: Number.POSITIVE_INFINITY };
  const used = sumTokens(session.memory.tokens);
  if (used < limit) {
    // A caller of whole results cannot read the rest of a cut one.
    const whole = limits.resultTokens === Number.POSITIVE_INFINITY;
    const share = whole ? limits.resultTokens : Math.floor((limit - used) / Math.max(1, targets.length));
    return {
      limits: { ...limits, resultTokens: Math.max(1, Math.min(limits.resultTokens, share)) },
      tokensLeft: limit - used,
    };
  }
  if (targets.length === 1 && isSessionAddress(targets[0]!))
    return { limits, tokensLeft: Number.POSITIVE_INFINITY };
  throw problem("BUDGET_EXCEEDED", { handle: session.handle, used, limit });
}

/** A caller of whole results gets them whole. */
function withinBytes(limits: Limits): Limits {
  const { answerBytes, resultTokens } = limits;
  if (resultTokens === Number.POSITIVE_INFINITY || answerBytes === Number.POSITIVE_INFINITY) return limits;
  return { ...limits, resultTokens: Math.min(resultTokens, Math.floor(answerBytes / BYTES_PER_TOKEN)) };
}
