import { availableParallelism } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { createSlots } from "./slots.ts";

/** Servers for each core that start at the same time: more of them would only keep each other, and clients, waiting. */
const PER_CORE = 4;
/** A server that takes longer lets the next one start. */
const LONGEST_MS = 1_000;
/** Before the first server starts, a client gets its first list: beside many new processes that would take seconds. */
const PAUSE_MS = 100;
/** Servers that are listed within this time belong to one start. */
const ONE_START_MS = 10_000;

const slots = createSlots("servers", PER_CORE * availableParallelism(), Number.POSITIVE_INFINITY);
let paused: { readonly since: number; readonly over: Promise<void> } | undefined;

/** Lists a server for the first time, when it is its turn. Rejects if the signal aborts before. */
export async function inFirstTurn<T>(list: () => Promise<T>, signal: AbortSignal): Promise<T> {
  await pause();
  const free = await slots.take(signal);
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
