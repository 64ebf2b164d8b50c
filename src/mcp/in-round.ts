import type { Principal } from "../schema/principal.ts";
import type { CallTrace } from "../schema/span-context.ts";
import type { Clock } from "../util/clock.ts";
import { startHeartbeat } from "./heartbeat.ts";
import type { Incoming } from "./incoming.ts";
import { asProtocolError } from "./protocol-errors.ts";
import { type KnownClient, type Round, toRound } from "./round.ts";

/** Does the work of one request, and reports progress meanwhile to a client that has asked for it. */
export async function inRound<T>(
  request: {
    readonly incoming: Incoming;
    readonly principal: Principal;
    readonly known: KnownClient;
    readonly trace: CallTrace | undefined;
    readonly clock: Clock;
  },
  work: (round: Round) => Promise<T>,
): Promise<T> {
  const { incoming, principal, known, trace, clock } = request;
  const { progress, stop } = startHeartbeat(incoming, clock);
  try {
    return await work(toRound(incoming, principal, known, progress, trace));
  } finally {
    stop();
  }
}

/** Problems become protocol errors, which keep their codes on the wire. */
export function guarded<T>(work: () => Promise<T>): Promise<T> {
  return work().catch((error: unknown) => {
    throw asProtocolError(error);
  });
}
