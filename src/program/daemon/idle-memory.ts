import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { lazy } from "../../base/util/lazy.ts";

/** Models take longer between two calls. */
const QUIET_MS = 200;
/** A heap that has grown by less is not worth a pause. */
const GROWTH = 1.25;
/** The pause grows with the heap: that of a larger one would be felt by the next call. */
const MOST_BYTES = 256 * 1024 * 1024;

/**
 * Gives memory back while no request runs. V8 collects garbage only when a call needs room, so an idle process would
 * keep that of its start and of its last calls: 18 MB of "4 servers, 1 session" of `npm run bench -- sessions`.
 * Call it when a request begins; it returns what to call when the request has ended.
 */
export function createIdleMemory(): () => () => void {
  let running = 0;
  let kept = 0;
  let quiet: NodeJS.Timeout | undefined;

  function giveBack(): void {
    const { heapUsed } = process.memoryUsage();
    if (heapUsed < kept * GROWTH || heapUsed > MOST_BYTES) return;
    collector()({ type: "major", execution: "sync", flavor: "last-resort" });
    kept = process.memoryUsage().heapUsed;
  }

  return () => {
    running += 1;
    clearTimeout(quiet);
    return () => {
      running -= 1;
      if (running === 0) quiet = setTimeout(giveBack, QUIET_MS).unref();
    };
  };
}

/** The flag is set back, because V8 does not use code that was compiled under other flags. */
const collector = lazy((): NodeJS.GCFunction => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc");
  setFlagsFromString("--no-expose-gc");
  return collect;
});
