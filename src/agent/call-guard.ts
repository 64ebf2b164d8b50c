import { contentHash } from "../util/content-hash.ts";
import { toJson } from "../util/to-json.ts";

export type GuardVerdict = "run" | "refuse" | "stop";

/** Sees that a model does not go round in circles. */
export interface CallGuard {
  /** What to do with a call: run it, refuse it with advice, or end the run. */
  check(tool: string, args: unknown): GuardVerdict;
}

/**
 * The same call runs `most` times; the next is refused, and one more ends the run. A call that was not made
 * before is progress: all counts start again, so that editing and testing in turns is no circle.
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
