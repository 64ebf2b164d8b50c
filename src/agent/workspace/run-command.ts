import { spawn } from "node:child_process";
import { setTimeout as startTimer, clearTimeout as stopTimer } from "node:timers";
import { setTimeout } from "node:timers/promises";
import { killOnExit } from "../../util/kill-on-exit.ts";
import { createMarker, MARKER } from "../../util/process-marker.ts";
import { endProcesses } from "../../util/process-tree.ts";
import { createOutputKeeper } from "./output-keeper.ts";

const GRACE_MS = 500;
const LAST_OUTPUT_MS = 250;
/** What programs need to run at all; everything else has to be named. */
const INHERITED = ["HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TMPDIR", "TZ", "USER"];

export interface CommandOptions {
  readonly shell: string;
  readonly folder: string;
  /** Further variables that are passed on, by name. */
  readonly environment: readonly string[];
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
}

export interface CommandEnd {
  readonly exitCode: number | null;
  readonly killedBy: string | null;
  /** What it wrote, errors too, in the order of arrival. */
  readonly output: string;
  /** Bytes left out in the middle. */
  readonly cutBytes: number;
  /** Why it was stopped, where it was. */
  readonly stopped?: "timeout" | "cancelled";
}

/**
 * Runs a command by a shell in a process group of its own. When it resolves, the whole group is gone,
 * however it came to an end. Rejects only where the shell cannot be started.
 */
export async function runCommand(command: string, options: CommandOptions): Promise<CommandEnd> {
  const marker = createMarker();
  const output = createOutputKeeper(options.maxBytes);
  const child = spawn(options.shell, ["-c", command], {
    cwd: options.folder,
    env: { ...inherited(options.environment), TERM: "dumb", NO_COLOR: "1", [MARKER]: marker },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
    windowsHide: true,
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => output.add(chunk));
    stream.on("error", () => {});
  }
  const ended = Promise.withResolvers<{ exitCode: number | null; killedBy: string | null }>();
  const closed = Promise.withResolvers<void>();
  child.on("error", ended.reject);
  // Not `close`: what it left running may hold the pipes for long.
  child.on("exit", (exitCode, killedBy) => ended.resolve({ exitCode, killedBy }));
  child.on("close", () => closed.resolve());
  if (child.pid === undefined) return ended.promise as never;

  const group = child.pid;
  const forget = killOnExit(group);
  let stopped: CommandEnd["stopped"];
  const stop = (why: "timeout" | "cancelled") => {
    stopped ??= why;
    void endProcesses(group, marker, 0);
  };
  const cancel = () => stop("cancelled");
  const timer = startTimer(() => stop("timeout"), options.timeoutMs);
  options.signal?.addEventListener("abort", cancel, { once: true });
  if (options.signal?.aborted) cancel();
  try {
    const end = await ended.promise;
    await endProcesses(group, marker, stopped ? 0 : GRACE_MS);
    // What has left its group and dropped its marker can still hold the pipes.
    await Promise.race([closed.promise, setTimeout(LAST_OUTPUT_MS)]);
    return { ...end, ...output.end(), ...(stopped && { stopped }) };
  } finally {
    stopTimer(timer);
    options.signal?.removeEventListener("abort", cancel);
    forget();
    child.stdout.destroy();
    child.stderr.destroy();
  }
}

function inherited(names: readonly string[]): Record<string, string> {
  const present = [...INHERITED, ...names].flatMap((name) => {
    const value = process.env[name];
    // A value that starts like this is a shell function, not data.
    return value === undefined || value.startsWith("()") ? [] : [[name, value] as const];
  });
  return Object.fromEntries(present);
}
