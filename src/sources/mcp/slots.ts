import { availableParallelism } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { problem } from "../../base/problems/problem.ts";

/** Limits how many calls run and how many wait, in order. */
export function createSlots(server: string, limit: number, queueLimit: number) {
  const queue = new Set<() => void>();
  let running = 0;

  function give(): () => void {
    running += 1;
    let released = false;
    return () => {
      if (released) return;
      released = true;
      running -= 1;
      const [next] = queue;
      if (!next) return;
      queue.delete(next);
      next();
    };
  }

  /** Returns a function that releases the slot. A promise only if none is free. */
  function take(signal: AbortSignal): (() => void) | Promise<() => void> {
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
  }

  return { take, running: () => running, waiting: () => queue.size };
}

/** Servers that start at the same time, per core: more would only slow down each other and clients. */
const PER_CORE = 4;
/** After this time the next server may start. */
const LONGEST_MS = 1_000;
/** Pause before the first start: next to many new processes, a client's first list would take seconds. */
const PAUSE_MS = 100;
/** Servers listed within this time belong to one start. */
const ONE_START_MS = 10_000;

const firstListings = createSlots("servers", PER_CORE * availableParallelism(), Number.POSITIVE_INFINITY);
let paused: { readonly since: number; readonly over: Promise<void> } | undefined;

/** Lists a server for the first time, when its turn comes. Rejects if the signal aborts before. */
export async function listInTurn<T>(list: () => Promise<T>, signal: AbortSignal): Promise<T> {
  await pause();
  const free = await firstListings.take(signal);
  const timer = setTimeout(free, LONGEST_MS);
  try {
    return await list();
  } finally {
    clearTimeout(timer);
    free();
  }
}

function pause(): Promise<void> {
  const now = Date.now();
  if (!paused || Math.abs(now - paused.since) > ONE_START_MS) paused = { since: now, over: sleep(PAUSE_MS) };
  return paused.over;
}
