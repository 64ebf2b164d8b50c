import { problem } from "../schema/problem.ts";
import { createFairCache } from "../util/fair-cache.ts";
import { heapBytes } from "../util/heap-bytes.ts";
import type { Json } from "../util/json.ts";
import { mintHandle } from "./mint-handle.ts";

/** Keeps plans and the calls that their runs have finished, each for its principal. */
export interface PlanStore {
  /** Keeps a new plan with its first events and returns its handle. */
  open(principalId: string, events: readonly Json[]): Promise<string>;
  /** All events in order. Unknown, expired and foreign handles are refused alike. */
  read(handle: string, principalId: string): Promise<readonly Json[]>;
  /**
   * Adds the event at a position, which is the number of events before it. It is kept before this resolves.
   *
   * @throws `CONFLICT` if another run has added an event there.
   */
  append(handle: string, principalId: string, position: number, event: Json): Promise<void>;
  /** Closes the file, if the store has one. */
  close(): void;
}

export const PLAN_PREFIX = "plan_";
export const PLAN_KEPT_MS = 24 * 60 * 60_000;
const MIB = 1024 * 1024;

/** Keeps plans in memory. A principal over its bound loses its own oldest plans. */
export function createMemoryPlanStore(): PlanStore {
  const plans = createFairCache<Json[]>({
    all: { entries: 5_000, size: 256 * MIB },
    perOwner: { entries: 1_000, size: 64 * MIB },
    ttlMs: PLAN_KEPT_MS,
  });
  const find = (handle: string, principalId: string) => {
    const events = plans.get(handle, principalId);
    if (!events) throw problem("UNKNOWN_HANDLE", { handle });
    return events;
  };
  return {
    open: async (principalId, events) => {
      const handle = mintHandle(PLAN_PREFIX);
      plans.set(handle, principalId, [...events], heapBytes(events));
      return handle;
    },
    read: async (handle, principalId) => [...find(handle, principalId)],
    append: async (handle, principalId, position, event) => {
      const events = find(handle, principalId);
      if (events.length !== position) throw takenPosition();
      plans.set(handle, principalId, [...events, event], heapBytes(events) + heapBytes(event));
    },
    close: () => {},
  };
}

/** The problem of a run that is not alone. */
export function takenPosition() {
  return problem("CONFLICT", { reason: "Another run performs this plan." });
}
