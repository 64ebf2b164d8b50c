import { randomUUID } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";

/** The variable that every process of an upstream inherits, so that none can get lost. */
export const MARKER = "KEYHOLE_UPSTREAM";

/** `owner/id`: whose child it is, and which one. */
export function createMarker(): string {
  return `${ownerKey(process.pid)}/${randomUUID()}`;
}

/** Whether the process that gave this marker has ended. Unknown counts as alive. */
export function isOrphan(marker: string): boolean {
  const [owner = ""] = marker.split("/");
  const [pid, started, namespace] = owner.split(":");
  if (!pid || !started || namespace !== pidNamespace()) return false;
  return startTime(Number(pid)) !== started;
}

/** A pid is used again one day; with its start time and namespace it is unique. */
function ownerKey(pid: number): string {
  return `${pid}:${startTime(pid) ?? ""}:${pidNamespace()}`;
}

function startTime(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name may hold spaces and brackets, so fields are counted from behind it.
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
