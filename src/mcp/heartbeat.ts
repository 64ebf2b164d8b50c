import type { CallingClient } from "../schema/entry.ts";
import type { Clock } from "../util/clock.ts";
import type { Incoming } from "./incoming.ts";

type Progress = CallingClient["progress"];

/** The progress of one call, which never pauses for long. */
export interface Heartbeat {
  readonly progress: Progress;
  stop(): void;
}

/** Some clients give up after 60 seconds without a word. */
const SILENT_MS = 15_000;
/** Progress has to grow with every report, and the tool's own next step must still be larger. */
const STEP = 0.001;

/**
 * Passes the progress of a tool on to a client that has asked for it, and reports by itself while the tool is
 * silent.
 */
export function startHeartbeat({ _meta, notify }: Incoming, clock: Clock): Heartbeat {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return { progress: () => {}, stop: () => {} };
  const began = clock.monotonic();
  let last: Parameters<Progress>[0] = { progress: 0 };
  let cancel = clock.after(SILENT_MS, beat);

  function beat(): void {
    const seconds = Math.round((clock.monotonic() - began) / 1_000);
    const { total = Number.POSITIVE_INFINITY } = last;
    const grown = last.progress + STEP;
    progress({ ...(grown < total && last), progress: grown, message: `Still running after ${seconds} s.` });
  }

  function progress(update: Parameters<Progress>[0]): void {
    last = update;
    cancel();
    cancel = clock.after(SILENT_MS, beat);
    const params = { progressToken, ...update };
    // It only informs: a client that has gone away must not fail the call.
    notify({ method: "notifications/progress", params }).catch(() => {});
  }

  return { progress, stop: () => cancel() };
}
