import { readdir, readFile } from "node:fs/promises";

/** Variables that mark the processes of one run: the system itself, and the servers behind it. */
export const SYSTEM = "KEYHOLE_BENCH_SYSTEM";
export const UPSTREAM = "KEYHOLE_BENCH_UPSTREAM";

export interface MarkedProcesses {
  readonly count: number;
  /** Memory of the system alone, without the servers behind it. */
  readonly megabytes: number;
}

/** Finds the processes of a run by their environment, daemons included. Linux only. */
export async function markedProcesses(mark: string): Promise<MarkedProcesses> {
  const ids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(ids.map((id) => readMarked(id, mark)));
  const marked = found.filter((process) => process !== undefined);
  const kilobytes = marked.reduce((sum, { isUpstream, rss }) => sum + (isUpstream ? 0 : rss), 0);
  return { count: marked.length, megabytes: kilobytes / 1_024 };
}

/** Ends what is left of a run, so that it does not disturb the next. */
export async function killMarked(mark: string): Promise<void> {
  const ids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  for (const id of ids) if (await readMarked(id, mark)) process.kill(Number(id), "SIGKILL");
}

async function readMarked(id: string, mark: string) {
  try {
    const variables = (await readFile(`/proc/${id}/environ`, "utf8")).split("\0");
    const isUpstream = variables.includes(`${UPSTREAM}=${mark}`);
    if (!isUpstream && !variables.includes(`${SYSTEM}=${mark}`)) return undefined;
    const rss = /^VmRSS:\s+(\d+)/m.exec(await readFile(`/proc/${id}/status`, "utf8"))?.[1];
    // A process without memory has ended and waits to be collected.
    return rss === undefined ? undefined : { isUpstream, rss: Number(rss) };
  } catch {
    return undefined;
  }
}
