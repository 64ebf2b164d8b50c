import { problem } from "../schema/problem.ts";
import { isSessionAddress, type Session } from "../session/session-store.ts";
import { sumTokens } from "../session/tokens-by-cause.ts";
import type { Ledger } from "./ledger.ts";
import type { Limits, OperationContext } from "./operation.ts";

type Budget = Pick<OperationContext, "limits" | "tokensLeft">;

/**
 * The limits of a call within what is left of its session's budget, which all that it asks for shares.
 * Where nothing is left the call is refused, but for reading the session itself: that is how to go on.
 */
export async function budgetOf(
  session: Session | undefined,
  limits: Limits,
  targets: readonly string[],
  ledger: Pick<Ledger, "settle">,
): Promise<Budget> {
  const limit = limits.sessionTokens;
  if (!session || limit === Number.POSITIVE_INFINITY) return { limits };
  await ledger.settle();
  const used = sumTokens(session.memory.tokens);
  if (used < limit) {
    // Who asks for whole results has no way to read the rest of one.
    const whole = limits.resultTokens === Number.POSITIVE_INFINITY;
    const share = whole ? limits.resultTokens : Math.floor((limit - used) / Math.max(1, targets.length));
    return {
      limits: { ...limits, resultTokens: Math.max(1, Math.min(limits.resultTokens, share)) },
      tokensLeft: limit - used,
    };
  }
  if (targets.length === 1 && isSessionAddress(targets[0]!)) return { limits };
  throw problem("BUDGET_EXCEEDED", { handle: session.handle, used, limit });
}
