import { rmSync } from "node:fs";
import { holdLock } from "../util/hold-lock.ts";

/** Locks of this process by path. A conversation that is resumed here again keeps its lock. */
const held = new Map<string, () => void>();

/** Keeps other processes away from a conversation's file. Returns false if another process has it open. */
export function lockSession(path: string): boolean {
  const lock = `${path}.lock`;
  if (held.has(lock)) return true;
  try {
    const release = holdLock(lock);
    if (!release) return false;
    held.set(lock, release);
  } catch {
    // A folder that cannot be written needs no lock.
  }
  return true;
}

export function unlockSession(path: string): void {
  const lock = `${path}.lock`;
  const release = held.get(lock);
  if (!release) return;
  held.delete(lock);
  release();
  rmSync(lock, { force: true });
}
