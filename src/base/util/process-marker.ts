import { randomUUID } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";

/** Environment variable that every process of an upstream inherits, so that each can be found again. */
export const MARKER = "KEYHOLE_UPSTREAM";

/** Creates a marker `owner/id`, where the owner is this process. */
export function createMarker(): string {
  return `${ownerKey(process.pid)}/${randomUUID()}`;
}

/** Whether the process that created this marker has ended. Unknown counts as alive. */
export function isOrphan(marker: string): boolean {
  const [owner = ""] = marker.split("/");
  const [pid, started, namespace] = owner.split(":");
  if (!pid || !started || namespace !== pidNamespace()) return false;
  return startTime(Number(pid)) !== started;
}

/** Pids are reused; with start time and namespace they are unique. */
function ownerKey(pid: number): string {
  return `${pid}:${startTime(pid) ?? ""}:${pidNamespace()}`;
}

function startTime(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The process name may hold spaces and brackets, so fields are counted after it.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    return undefined;
  }
}

function pidNamespace(): string {
  try {
    return /\d+/.exec(readlinkSync("/proc/self/ns/pid"))?.[0] ?? "";
  } catch {
    return "";
  }
}
