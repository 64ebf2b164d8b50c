import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

/** Servers have this long to end after their client has left. */
const GRACE_MS = 10_000;

/** The other processes of this process namespace, as soon as there is none or the time is over. */
export async function leftProcesses(): Promise<string[]> {
  const until = Date.now() + GRACE_MS;
  for (;;) {
    const left = await otherProcesses();
    if (left.length === 0 || Date.now() > until) return left;
    await sleep(100);
  }
}

async function otherProcesses(): Promise<string[]> {
  const ids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  const lines = await Promise.all(ids.map(commandLine));
  return lines.filter((line) => line !== undefined);
}

/** Undefined for a process that has ended: nobody collects orphans here. */
async function commandLine(id: string): Promise<string | undefined> {
  try {
    const stat = await readFile(`/proc/${id}/stat`, "utf8");
    if (stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3) === "Z") return undefined;
    return (await readFile(`/proc/${id}/cmdline`, "utf8")).replaceAll("\0", " ").trim();
  } catch {
    return undefined;
  }
}
