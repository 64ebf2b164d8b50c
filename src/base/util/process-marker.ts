import { randomUUID } from "node:crypto";
import { readFileSync, readlinkSync, realpathSync } from "node:fs";
import { basename, resolve } from "node:path";

/** Environment variable that all processes of an upstream server inherit, to find them again. */
export const MARKER = "KEYHOLE_UPSTREAM";

/** Creates a marker `owner/id`, where the owner is this process. */
export function createMarker(): string {
  return `${ownerKey(process.pid)}/${randomUUID()}`;
}

/** Whether a process with this pid runs, of any user. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Whether the process that created this marker has ended. Unknown counts as running. */
export function isOrphan(marker: string): boolean {
  const [owner = ""] = marker.split("/");
  const [pid, started, namespace] = owner.split(":");
  if (!pid || !started || namespace !== pidNamespace()) return false;
  return startTime(Number(pid)) !== started;
}

/**
 * Whether a server or a command of the agent started this process, with any number of processes between. Checks the
 * markers of this process and its ancestors, and looks for an ancestor that this program started in its own session, as
 * it starts servers. Without /proc only the marker of this process counts.
 */
export function isBelowServer(): boolean {
  if (process.env[MARKER]) return true;
  const program = realPath(process.argv[1] ?? "");
  let isSessionOfOwn = false;
  for (let pid = process.pid; pid > 1; ) {
    if (isSessionOfOwn && runsProgram(pid, program)) return true;
    if (readProc(pid, "environ").some((variable) => variable.startsWith(`${MARKER}=`))) return true;
    const [, parent, , session] = readStat(pid);
    isSessionOfOwn = Number(session) === pid;
    pid = Number(parent ?? 0);
  }
  return false;
}

/** Whether a process is Node with this program. Others, such as tmux, only name it in their command line. */
function runsProgram(pid: number, program: string): boolean {
  if (basename(realPath(`/proc/${pid}/exe`)) !== basename(process.execPath)) return false;
  return readProc(pid, "cmdline").some((word) => realPath(resolve(`/proc/${pid}/cwd`, word)) === program);
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function readProc(pid: number, file: "environ" | "cmdline"): string[] {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1").split("\0");
  } catch {
    return [];
  }
}

/** The fields of /proc/PID/stat from the state on. The process name before them may contain spaces and brackets. */
function readStat(pid: number): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch {
    return [];
  }
}

/** Pids are reused; with start time and namespace they are unique. */
function ownerKey(pid: number): string {
  return `${pid}:${startTime(pid) ?? ""}:${pidNamespace()}`;
}

function startTime(pid: number): string | undefined {
  return readStat(pid)[19];
}

function pidNamespace(): string {
  try {
    return /\d+/.exec(readlinkSync("/proc/self/ns/pid"))?.[0] ?? "";
  } catch {
    return "";
  }
}
