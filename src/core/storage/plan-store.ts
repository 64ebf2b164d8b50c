import { problem } from "../../base/problems/problem.ts";
import type { Json } from "../../base/util/json.ts";
import type { Bounds, OpenStorage } from "../../base/util/storage.ts";
import { mintHandle } from "../sessions/mint-handle.ts";
import { openMemoryStorage } from "./memory-storage.ts";

/** Stores plans with their finished calls, each for its principal. */
export interface PlanStore {
  /** Stores a new plan with its first events. Returns its handle. */
  open(principalId: string, events: readonly Json[]): Promise<string>;
  /** All events in order. Unknown, expired and foreign handles fail in the same way. */
  read(handle: string, principalId: string): Promise<readonly Json[]>;
  /**
   * Appends an event at a position: the number of events before it. Resolves when it is stored.
   *
   * @throws `CONFLICT` if another run appended an event there.
   */
  append(handle: string, principalId: string, position: number, event: Json): Promise<void>;
}

const PLAN_PREFIX = "plan_";
const PLAN_KEPT_MS = 24 * 60 * 60_000;
const MIB = 1024 * 1024;
const ALL: Bounds = { entries: 5_000, size: 256 * MIB };
const PER_PRINCIPAL: Bounds = { entries: 1_000, size: 64 * MIB };

/** Stores plans, by default in memory. A principal over its limit loses its own oldest plans. */
export function createPlanStore(
  open: OpenStorage = openMemoryStorage,
  { all = ALL, perPrincipal = PER_PRINCIPAL }: { all?: Bounds; perPrincipal?: Bounds } = {},
): PlanStore {
  const plans = open<Json>("plan", { all, perOwner: perPrincipal, ttlMs: PLAN_KEPT_MS });

  async function read(handle: string, principalId: string): Promise<readonly Json[]> {
    const events = await plans.list(handle, principalId);
    if (events.length === 0) throw problem("UNKNOWN_HANDLE", { handle });
    return events;
  }

  return {
    open: async (principalId, events) => {
      const handle = mintHandle(PLAN_PREFIX);
      await plans.put(handle, principalId, ...events);
      return handle;
    },
    read,
    append: async (handle, principalId, position, event) => {
      if (await plans.append(handle, principalId, position, event)) return;
      await read(handle, principalId);
      throw problem("CONFLICT", { reason: "Another run performs this plan." });
    },
  };
}
