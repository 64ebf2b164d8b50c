import { type ChildProcessByStdio, spawn } from "node:child_process";
import { resolve } from "node:path";
import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { setTimeout as startTimer, clearTimeout as stopTimer } from "node:timers";
import { setTimeout } from "node:timers/promises";
import { z } from "zod";
import { type Problem, problem } from "../../base/problems/problem.ts";
import { knowSensitiveText } from "../../base/safety/known-secrets.ts";
import { createMarker, MARKER } from "../../base/util/process-marker.ts";
import { isolate } from "../../sources/isolation/isolation.ts";
import type { Isolation } from "../../sources/isolation/mounts.ts";
import { endProcesses, killOnExit } from "../../sources/mcp/process-tree.ts";
import { beginCall, runContext, tellOutput } from "../loop/run-context.ts";
import { refusedInPlan } from "../permissions/decide.ts";
import { holdsSecrets } from "../permissions/sensitive-path.ts";
import { toShellRequest } from "../permissions/to-request.ts";
import { refusal } from "./tool-problem.ts";
import { defineWorkspaceTool, type WorkspaceContext } from "./workspace-tool.ts";

const MAX_OUTPUT_BYTES = 128 * 1024;
/** How much of a failed command's output is shown: its end says why it failed. */
const HEAD_CHARS = 2_000;
const TAIL_CHARS = 14_000;
export const MAX_COMMAND_MS = 600_000;

const shellInput = z.strictObject({
  command: z
    .string()
    .min(1)
    .max(100_000)
    .refine((command) => !command.includes("\0"), "must not contain NUL")
    .describe("runs in the project's folder, without input; its processes end with it"),
  timeoutMs: z.int().min(1).max(MAX_COMMAND_MS).default(120_000),
});

export const shellTool = defineWorkspaceTool({
  name: "shell",
  lane: "write",
  description: "Run a shell command in the project's folder and return its output",
  inputSchema: shellInput,
  examples: [{ args: { command: "npm test", timeoutMs: 60_000 } }],
  phrases: ["run command", "terminal", "bash", "execute program"],
  look: "ends",
  run: shell,
  toText: shellText,
});

type ShellOutput = Pick<CommandEnd, "output" | "cutBytes">;

function shellText({ output }: ShellOutput): string {
  return output.trim() === "" ? "[no output]" : output.trimEnd();
}

/** A command that failed, for the model: how it ended stands first, then its output. */
function failureOf(
  { exitCode, killedBy, stopped, output }: CommandEnd,
  timeoutMs: number,
): Problem | undefined {
  if (exitCode === 0 && !stopped) return undefined;
  const ended = killedBy === null ? `exit code ${exitCode}` : `killed by ${killedBy}`;
  const stops = { timeout: `stopped after ${timeoutMs} ms`, cancelled: "cancelled" };
  const text = output.trim() === "" ? "[no output]" : cutMiddle(output.trimEnd());
  return problem("COMMAND_FAILED", { output: `${stopped ? stops[stopped] : ended}\n${text}` });
}

function cutMiddle(text: string): string {
  const left = text.length - HEAD_CHARS - TAIL_CHARS;
  if (left <= 0) return text;
  const parts = [text.slice(0, HEAD_CHARS), `… ${left} characters left out …`, text.slice(-TAIL_CHARS)];
  return parts.join("\n").toWellFormed();
}

async function shell(
  { command, timeoutMs }: z.output<typeof shellInput>,
  { permissions, root, environment, shell: program, checkpoints, isolation, ask }: WorkspaceContext,
  signal?: AbortSignal,
): Promise<ShellOutput> {
  const outcome = await permissions.command(command, signal, ask);
  if (!outcome.allowed) throw refusal("shell-run", outcome);
  await beginCall();
  const running = runContext.getStore();
  const isSensitive = namesSecrets(command, root);
  const onOutput = (text: string) => {
    if (isSensitive) knowSensitiveText(text);
    tellOutput(text, running);
  };
  const limits = { timeoutMs, maxBytes: MAX_OUTPUT_BYTES, signal, isolation };
  const start = () => runCommand(command, { shell: program, folder: root, environment, ...limits, onOutput });
  const end = await (checkpoints && (await mayWrite(command, root)) ? checkpoints.during(start) : start());
  if (isSensitive) knowSensitiveText(end.output);
  const failure = failureOf(end, timeoutMs);
  if (failure) throw failure;
  return end;
}

/** Whether a word of the command is a path that may hold keys or logins. */
function namesSecrets(command: string, root: string): boolean {
  const words = command.split(/[\s"'`;|&<>()=]+/).filter((word) => word !== "");
  return words.some((word) => holdsSecrets(resolve(root, word), root));
}

/** Whether the command may change files; one that is not understood may. */
async function mayWrite(command: string, root: string): Promise<boolean> {
  return refusedInPlan(await toShellRequest(command, root)) !== undefined;
}

const GRACE_MS = 500;
const LAST_OUTPUT_MS = 250;
/** Variables that most programs need. */
const INHERITED = ["HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TMPDIR", "TZ", "USER"];

interface CommandOptions {
  readonly shell: string;
  readonly folder: string;
  /** Variables beside those that most programs need. */
  readonly environment: WorkspaceContext["environment"];
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
  readonly isolation?: Isolation | undefined;
  /** Gets output as it arrives. */
  readonly onOutput?: ((text: string) => void) | undefined;
}

interface CommandEnd {
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
  const output = new OutputKeeper(options.maxBytes);
  const env = { ...inherited(options.environment), TERM: "dumb", NO_COLOR: "1", [MARKER]: marker };
  // Output and errors share a pipe, so that they keep their order.
  const args = ["-c", 'exec "$0" -c "$1" 2>&1', options.shell, command];
  const program = { command: "/bin/sh", args, env, cwd: options.folder };
  const isolated = options.isolation && (await isolate(program, options.isolation));
  const started = isolated ?? program;
  const child = spawn(started.command, [...started.args], {
    cwd: options.folder,
    env: { ...env, ...isolated?.env },
    stdio: ["ignore", "pipe", "pipe", ...(isolated?.channels ?? [])],
    detached: true,
    windowsHide: true,
  }) as ChildProcessByStdio<null, Readable, Readable>;
  isolated?.attach(child);
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

function inherited(more: CommandOptions["environment"]): Record<string, string> {
  const few = INHERITED.map((name) => [name, process.env[name]] as const);
  return Object.fromEntries(
    [...few, ...Object.entries(more)].flatMap(([name, value]) =>
      // Such a value is a shell function, not data.
      value === undefined || value.startsWith("()") ? [] : [[name, value] as const],
    ),
  );
}

/** Keeps the beginning and the end of a long output, within about `maxBytes`. */
class OutputKeeper {
  readonly #half: number;
  #head = Buffer.alloc(0);
  #tail: Buffer[] = [];
  #tailBytes = 0;
  #cutBytes = 0;

  constructor(maxBytes: number) {
    this.#half = Math.ceil(maxBytes / 2);
  }

  add(chunk: Buffer): void {
    const room = this.#half - this.#head.length;
    if (room > 0) this.#head = Buffer.concat([this.#head, chunk.subarray(0, room)]);
    const rest = chunk.subarray(Math.max(0, room));
    if (rest.length === 0) return;
    this.#tail.push(rest);
    this.#tailBytes += rest.length;
    // Trim only now and then, so that small chunks do not cost a copy each.
    if (this.#tailBytes > this.#half * 2) this.#trim();
  }

  end(): { output: string; cutBytes: number } {
    const tail = this.#trim();
    const cutBytes = this.#cutBytes;
    if (cutBytes === 0) return { output: Buffer.concat([this.#head, tail]).toString("utf8"), cutBytes };
    return { output: `${this.#head}\n… ${cutBytes} bytes left out …\n${tail}`, cutBytes };
  }

  #trim(): Buffer {
    const whole = Buffer.concat(this.#tail);
    const tail = Buffer.from(whole.subarray(Math.max(0, whole.length - this.#half)));
    this.#cutBytes += whole.length - tail.length;
    this.#tail = [tail];
    this.#tailBytes = tail.length;
    return tail;
  }
}
