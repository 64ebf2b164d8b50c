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

interface Kept {
  readonly events: Json[];
  readonly bytes: number;
}

/** Keeps plans in memory. A principal over its bound loses its own oldest plans. */
export function createMemoryPlanStore(): PlanStore {
  const plans = createFairCache<Kept>({
    all: { entries: 5_000, size: 256 * MIB },
    perOwner: { entries: 1_000, size: 64 * MIB },
    ttlMs: PLAN_KEPT_MS,
  });
  const find = (handle: string, principalId: string) => {
    const plan = plans.get(handle, principalId);
    if (!plan) throw problem("UNKNOWN_HANDLE", { handle });
    return plan;
  };
  return {
    open: async (principalId, events) => {
      const handle = mintHandle(PLAN_PREFIX);
      const bytes = heapBytes(events);
      plans.set(handle, principalId, { events: [...events], bytes }, bytes);
      return handle;
    },
    read: async (handle, principalId) => [...find(handle, principalId).events],
    append: async (handle, principalId, position, event) => {
      const plan = find(handle, principalId);
      if (plan.events.length !== position) throw takenPosition();
      // Counting all events again would make a long script slow.
      const bytes = plan.bytes + heapBytes(event);
      plan.events.push(event);
      plans.set(handle, principalId, { events: plan.events, bytes }, bytes);
    },
    close: () => {},
  };
}

/** The problem of a run that is not alone. */
export function takenPosition() {
  return problem("CONFLICT", { reason: "Another run performs this plan." });
}
