import type { Clock } from "../../base/util/clock.ts";
import { fieldsOf } from "../../base/util/plain-object.ts";

export type NoticeGate = ReturnType<typeof createNoticeGate>;

/** Notifications that pass unchanged within `EVERY_MS`. Honest servers send fewer. */
const MOST = 50;
const EVERY_MS = 100;
const MAX_KINDS = 64;

/** Passes on what a server sends. If notifications come too fast, only the latest of each kind. */
export function createNoticeGate(clock: Clock) {
  const waiting = new Map<string, () => void>();
  let passed = 0;
  let cancel: (() => void) | undefined;

  function pass(deliver: () => void): void {
    passed += 1;
    deliver();
  }

  function passWaiting(): void {
    const due = [...waiting.values()];
    waiting.clear();
    for (const deliver of due) pass(deliver);
  }

  /** Starts the next period, which counts the waiting notifications. */
  function begin(): void {
    passed = 0;
    cancel = waiting.size > 0 ? clock.after(EVERY_MS, begin) : undefined;
    passWaiting();
  }

  return {
    /** Delivers a message now, or a notification later, or never if a newer one replaces it. */
    take: (message: unknown, deliver: () => void) => {
      const kind = kindOf(message);
      if (kind === undefined) {
        // An answer must follow the notifications sent before it.
        if (passed < 2 * MOST) passWaiting();
        return deliver();
      }
      cancel ??= clock.after(EVERY_MS, begin);
      if (passed < MOST && waiting.size === 0) return pass(deliver);
      waiting.delete(kind);
      waiting.set(kind, deliver);
      const [oldest] = waiting.keys();
      if (waiting.size > MAX_KINDS && oldest !== undefined) waiting.delete(oldest);
    },
    /** Drops waiting notifications. */
    close: () => {
      cancel?.();
      waiting.clear();
    },
  };
}

/** Notifications of one kind replace each other. Undefined for requests and answers. */
function kindOf(message: unknown): string | undefined {
  const { method, id, params } = fieldsOf(message);
  if (typeof method !== "string" || id !== undefined) return undefined;
  const { progressToken, uri, requestId, taskId } = fieldsOf(params);
  return JSON.stringify([method, progressToken, uri, requestId, taskId]);
}
