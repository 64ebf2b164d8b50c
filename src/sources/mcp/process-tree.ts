import { readdir, readFile } from "node:fs/promises";
import { isOrphan, MARKER } from "../../base/util/process-marker.ts";

const CHECK_MS = 20;
const KILL_ROUNDS = 10;

/** Sandboxed programs end with the outer process of this name, without time to clean up. */
const WRAPPER = "bwrap";

interface ProcessRow {
  readonly pid: number;
  readonly name: string;
  readonly group: number;
  readonly marker: string | undefined;
}

/**
 * Ends a process group and every process with its marker, including those that left the group. Waits, sends SIGTERM,
 * waits, then sends SIGKILL. Resolves when all have ended.
 */
export async function endProcesses(group: number, marker: string, graceMs: number): Promise<void> {
  if (await gone(group, marker, graceMs)) return;
  await signalAll(group, marker, "SIGTERM");
  if (await gone(group, marker, graceMs)) return;
  // The next round finds processes forked during the kill.
  for (let round = 0; round < KILL_ROUNDS; round += 1) {
    await signalAll(group, marker, "SIGKILL");
    if (await gone(group, marker, CHECK_MS * 5)) return;
  }
}

/** Kills processes of ended gateways. Resolves to their number. */
export async function sweepOrphans(): Promise<number> {
  const orphans = (await living()).filter(({ marker }) => marker !== undefined && isOrphan(marker));
  for (const { pid } of orphans) send(pid, "SIGKILL");
  return orphans.length;
}

async function gone(group: number, marker: string, withinMs: number): Promise<boolean> {
  const end = performance.now() + withinMs;
  for (;;) {
    if ((await members(group, marker)).length === 0) return true;
    if (performance.now() >= end) return false;
    await new Promise((resolve) => setTimeout(resolve, CHECK_MS));
  }
}

async function signalAll(group: number, marker: string, signal: NodeJS.Signals): Promise<void> {
  const pids = await members(group, marker, signal === "SIGTERM" ? WRAPPER : undefined);
  for (const pid of pids) send(pid, signal);
}

/** Without /proc, the whole group counts as one member. */
async function members(group: number, marker: string, except?: string): Promise<number[]> {
  if (process.platform !== "linux") return send(-group, 0) ? [-group] : [];
  const rows = (await living()).filter(({ name }) => name !== except);
  return rows.filter((each) => each.group === group || each.marker === marker).map(({ pid }) => pid);
}

async function living(): Promise<ProcessRow[]> {
  const names = await readdir("/proc").catch(() => []);
  const pids = names.map(Number).filter((pid) => pid > 1 && pid !== process.pid);
  return (await Promise.all(pids.map(inspect))).filter((found) => found !== undefined);
}

async function inspect(pid: number): Promise<ProcessRow | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, "latin1");
    const [state, , group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (state === "Z" || state === "X") return undefined;
    const environment = await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "");
    const line = environment.split("\0").find((variable) => variable.startsWith(`${MARKER}=`));
    const name = stat.slice(stat.indexOf("(") + 1, stat.lastIndexOf(")"));
    return { pid, name, group: Number(group), marker: line?.slice(MARKER.length + 1) };
  } catch {
    return undefined;
  }
}

/** Sends a signal. False if no process received it. */
function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

const groups = new Set<number>();
let listening = false;

/** Kills the process group when this process exits, unless the returned function was called first. */
export function killOnExit(group: number): () => void {
  if (!listening) process.on("exit", killAll);
  listening = true;
  groups.add(group);
  return () => void groups.delete(group);
}

/** Synchronous, as an exit requires. The next start sweeps processes that left their group. */
function killAll(): void {
  for (const group of groups) {
    try {
      process.kill(-group, "SIGKILL");
    } catch {
      // The group has already ended.
    }
  }
}
