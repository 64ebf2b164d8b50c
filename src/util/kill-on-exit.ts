const groups = new Set<number>();
let listening = false;

/** Kills the process group when this process exits, unless the returned function was called before. */
export function killOnExit(group: number): () => void {
  if (!listening) process.on("exit", killAll);
  listening = true;
  groups.add(group);
  return () => void groups.delete(group);
}

/** Runs synchronously, as an exit requires. The next start sweeps processes that left their group. */
function killAll(): void {
  for (const group of groups) {
    try {
      process.kill(-group, "SIGKILL");
    } catch {
      // The group has already ended.
    }
  }
}
