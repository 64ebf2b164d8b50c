import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

const CHECK_MS = 1_000;
/** The share of a second that a process without calls works at most. */
const IDLE = 0.05;
/** A heap that has grown by less is not worth a pause. */
const GROWTH = 1.25;
/** The pause grows with the heap: that of a larger one would be felt by the next call. */
const MOST_BYTES = 256 * 1024 * 1024;

/**
 * Gives memory back while nobody calls. V8 collects garbage only when a call needs room, so an idle process would keep
 * that of its start and of the last calls: 16 MB of the bar "4 servers, 1 session" of `npm run bench -- sessions`.
 */
export function collectWhileIdle(): void {
  setFlagsFromString("--expose-gc");
  const collect: NonNullable<typeof globalThis.gc> = runInNewContext("gc");
  let kept = 0;
  let before = performance.eventLoopUtilization();
  setInterval(() => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    const { heapUsed } = process.memoryUsage();
    if (utilization > IDLE || heapUsed < kept * GROWTH || heapUsed > MOST_BYTES) return;
    collect({ type: "major", execution: "sync", flavor: "last-resort" });
    kept = process.memoryUsage().heapUsed;
  }, CHECK_MS).unref();
}
