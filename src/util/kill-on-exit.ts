const groups = new Set<number>();
let listening = false;

/** Kills the process group if this process ends before the answer was called. */
export function killOnExit(group: number): () => void {
  if (!listening) process.on("exit", killAll);
  listening = true;
  groups.add(group);
  return () => void groups.delete(group);
}

/** Nothing asynchronous runs any more; what has left its group is swept by the next start. */
function killAll(): void {
  for (const group of groups) {
    try {
      process.kill(-group, "SIGKILL");
    } catch {
      // It has ended by itself.
    }
  }
}
