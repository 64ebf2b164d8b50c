import { spawn } from "node:child_process";
import { StringDecoder } from "node:string_decoder";
import { setTimeout as startTimer, clearTimeout as stopTimer } from "node:timers";
import { setTimeout } from "node:timers/promises";
import { killOnExit } from "../../util/kill-on-exit.ts";
import { createMarker, MARKER } from "../../util/process-marker.ts";
import { endProcesses } from "../../util/process-tree.ts";
import { createOutputKeeper } from "./output-keeper.ts";

const GRACE_MS = 500;
const LAST_OUTPUT_MS = 250;
/** Variables that most programs need; others have to be named. */
const INHERITED = ["HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TMPDIR", "TZ", "USER"];

/** Options of {@link runCommand}. */
export interface CommandOptions {
  readonly shell: string;
  readonly folder: string;
  /** Names of further variables to pass on. */
  readonly environment: readonly string[];
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
  /** Gets output as it arrives. */
  readonly onOutput?: ((text: string) => void) | undefined;
}

/** How a command ended. */
export interface CommandEnd {
  readonly exitCode: number | null;
  readonly killedBy: string | null;
  /** Output and errors, in the order of arrival. */
  readonly output: string;
  /** Bytes left out in the middle. */
  readonly cutBytes: number;
  /** Why it was stopped, if it was. */
  readonly stopped?: "timeout" | "cancelled";
}

/**
 * Runs a command by a shell in its own process group. When the promise resolves, the whole group has ended.
 * Rejects only if the shell cannot start.
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
    const decoder = new StringDecoder("utf8");
    stream.on("data", (chunk: Buffer) => {
      output.add(chunk);
      options.onOutput?.(decoder.write(chunk));
    });
    stream.on("error", () => {});
  }
  const ended = Promise.withResolvers<{ exitCode: number | null; killedBy: string | null }>();
  const closed = Promise.withResolvers<void>();
  child.on("error", ended.reject);
  // Not `close`: processes that it left behind may hold the pipes for long.
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
    // A process that left the group and dropped the marker can still hold the pipes.
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
    // Such a value is a shell function, not data.
    return value === undefined || value.startsWith("()") ? [] : [[name, value] as const];
  });
  return Object.fromEntries(present);
}
