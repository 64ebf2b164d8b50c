import { contentHash } from "../util/content-hash.ts";
import { toJson } from "../util/to-json.ts";

export type GuardVerdict = "run" | "refuse" | "stop";

/** Stops a model that repeats itself. */
export interface CallGuard {
  /** Decides whether to run a call, refuse it with advice, or end the run. */
  check(tool: string, args: unknown): GuardVerdict;
}

/**
 * Runs the same call `most` times, refuses the next, and then ends the run. A new call is progress and resets all
 * counts, so alternating edits and tests are not stopped.
 */
export function createCallGuard(most: number): CallGuard {
  const seen = new Set<string>();
  const counts = new Map<string, number>();
  return {
    check: (tool, args) => {
      const json = toJson(args);
      const key = contentHash([tool, json.ok ? json.value : null]);
      if (!seen.has(key)) counts.clear();
      seen.add(key);
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      if (count <= most) return "run";
      return count === most + 1 ? "refuse" : "stop";
    },
  };
}
