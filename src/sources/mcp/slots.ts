import { problem } from "../../schema/problem.ts";

/** Limits how many calls run and how many wait, in order. */
export interface Slots {
  /** Returns a function that releases the slot, at once if one is free. */
  take(signal: AbortSignal): (() => void) | Promise<() => void>;
  readonly running: number;
  readonly waiting: number;
}

export function createSlots(server: string, limit: number, queueLimit: number): Slots {
  const queue = new Set<() => void>();
  let running = 0;

  function give(): () => void {
    running += 1;
    let given = false;
    return () => {
      if (given) return;
      given = true;
      running -= 1;
      const [next] = queue;
      if (next) {
        queue.delete(next);
        next();
      }
    };
  }

  return {
    get running() {
      return running;
    },
    get waiting() {
      return queue.size;
    },
    take: (signal) => {
      signal.throwIfAborted();
      if (running < limit && queue.size === 0) return give();
      if (queue.size >= queueLimit) throw problem("BUSY", { server, running, waiting: queue.size });
      return new Promise((resolve, reject) => {
        const enter = () => {
          signal.removeEventListener("abort", leave);
          resolve(give());
        };
        const leave = () => {
          queue.delete(enter);
          reject(signal.reason);
        };
        queue.add(enter);
        signal.addEventListener("abort", leave, { once: true });
      });
    },
  };
}
