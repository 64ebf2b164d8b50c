import { type ChildProcessByStdio, execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { Readable, Writable } from "node:stream";
import { type JSONRPCMessage, parseJSONRPCMessage, type Transport } from "@modelcontextprotocol/client";
import { type Problem, problem } from "../../base/problems/problem.ts";
import { fieldsOf } from "../../base/util/plain-object.ts";
import { createMarker, MARKER } from "../../base/util/process-marker.ts";
import { isolate } from "../isolation/isolation.ts";
import type { Isolation } from "../isolation/mounts.ts";
import { findCommand, toWindowsCommand } from "./config/server-program.ts";
import { createLineReader } from "./line-reader.ts";
import type { NoticeGate } from "./notice-gate.ts";
import { endProcesses, killOnExit } from "./process-tree.ts";

/** JSON-RPC code of an invalid message. */
const INVALID_ANSWER = -32_600;
const STDERR_BYTES = 64 * 1024;
const LAST_OUTPUT_MS = 50;
const REMOVE_MS = 5_000;
/** How long to handle lines before other work has its turn. */
const TURN_MS = 5;
/** The folders that the system searches without a PATH. */
const DEFAULT_PATH = "/usr/bin:/bin";

export interface StdioOptions {
  readonly label: string;
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment of the process. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string | undefined;
  /** Limits of what the process sees and reaches, if this machine supports them. */
  readonly isolation?: Isolation | undefined;
  /** Whether the command is `run` of a container engine. */
  readonly isContainer?: boolean;
  readonly maxLineBytes: number;
  /** On close: the wait after the end of input, and again after SIGTERM. */
  readonly graceMs: number;
  readonly gate: NoticeGate;
}

/** Why a program cannot start: Node has the same code for a missing program and a missing folder. */
function startFault({ command, cwd }: StdioOptions, { code }: NodeJS.ErrnoException): string {
  if (code === "EACCES") return `: ${command} may not be run`;
  if (code !== "ENOENT") return "";
  return cwd !== undefined && !existsSync(cwd)
    ? `: its cwd ${cwd} does not exist`
    : `: ${command} was not found`;
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/** A server that runs as a child process, in its own process group. */
export class StdioTransport implements Transport {
  onmessage?: Transport["onmessage"];
  onerror?: Transport["onerror"];
  onclose?: Transport["onclose"];
  pid: number | null = null;
  /** Marks a local pipe for the SDK. */
  readonly stderr = null;
  /** Skipped lines that were not messages. */
  invalidLines = 0;
  /** Why the connection ended; undefined while it is open. */
  ending: string | undefined;
  private readonly options: StdioOptions;
  private readonly ring = createTextRing(STDERR_BYTES);
  private readonly readLines: ReturnType<typeof createLineReader>;
  private readonly marker = createMarker();
  private readonly containerName = `keyhole-${randomUUID()}`;
  private backlog: string[] = [];
  private child: Child | undefined;
  private closed: Promise<void> | undefined;
  private forget = () => {};

  constructor(options: StdioOptions) {
    this.options = options;
    this.readLines = createLineReader(options.maxLineBytes);
  }

  stderrText(): string {
    return this.ring.text();
  }

  async start(): Promise<void> {
    const { command, args, isVerbatim, env, channels, attach } = await toCommandLine(this.options);
    // A transport closed meanwhile must not start its program.
    if (this.closed) throw this.lost("it was closed before it started");
    const named = this.options.isContainer ? args.toSpliced(1, 0, "--name", this.containerName) : args;
    const started = spawn(command, [...named], {
      windowsVerbatimArguments: isVerbatim,
      env: { ...this.options.env, ...env, [MARKER]: this.marker },
      stdio: ["pipe", "pipe", "pipe", ...channels],
      detached: true,
      shell: false,
      windowsHide: true,
      cwd: this.options.cwd,
    }) as Child;
    attach(started);
    this.child = started;
    this.pid = started.pid ?? null;
    started.stdout.on("data", (chunk: Buffer) => this.receive(chunk));
    started.stderr.on("data", (chunk: Buffer) => this.ring.add(chunk));
    for (const stream of [started.stdin, started.stdout, started.stderr]) {
      stream.on("error", (error: Error) => this.onerror?.(error));
    }
    // Besides `close`: a descendant may hold the pipes after the server has ended.
    started.on("exit", (code, signal) => {
      this.ending ??= signal ? `it was ended by ${signal}` : `it exited with code ${code}`;
      // Its last output may still be in the pipe.
      setTimeout(() => void this.close(), LAST_OUTPUT_MS);
    });
    started.on("close", () => void this.close());
    // Each waiting call adds a listener; the slots limit their number.
    started.stdin.setMaxListeners(0);
    await new Promise<void>((done, reject) => {
      started.once("spawn", () => {
        if (started.pid !== undefined) this.forget = killOnExit(started.pid);
        done();
      });
      started.once("error", (error: NodeJS.ErrnoException) => {
        this.ending = `it cannot be started (${error.code ?? "unknown"})${startFault(this.options, error)}`;
        reject(this.lost(this.ending));
      });
    });
  }

  private lost(reason: string): Problem {
    return problem("UPSTREAM_LOST", { server: this.options.label, reason }, { reason });
  }

  private receive(chunk: Buffer): void {
    if (this.closed) return;
    const complete = this.readLines(chunk);
    if (complete === undefined) {
      this.ending ??= `it sent a line longer than ${this.options.maxLineBytes} bytes`;
      void this.close();
      return;
    }
    const isWaiting = this.backlog.length > 0;
    this.backlog.push(...complete);
    if (!isWaiting) this.handleLines();
  }

  /**
   * Handles lines in turns and stops reading meanwhile, so that a flood slows down only its sender. A progress report
   * ends a turn: the SDK handles it a moment later, and drops it if the result has already arrived.
   */
  private handleLines(): void {
    const until = performance.now() + TURN_MS;
    let handled = 0;
    let isProgress = false;
    while (handled < this.backlog.length && !isProgress && performance.now() < until)
      isProgress = this.take(this.backlog[handled++]!);
    this.backlog = this.backlog.slice(handled);
    if (this.backlog.length > 0) {
      this.child?.stdout.pause();
      setImmediate(() => this.handleLines());
    } else if (this.child?.stdout.isPaused()) this.child.stdout.resume();
  }

  /** Returns whether the line reports progress. */
  private take(line: string): boolean {
    if (line.trim() === "") return false;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      this.invalidLines += 1;
      return false;
    }
    this.options.gate.take(value, () => this.deliver(value));
    return fieldsOf(value).method === "notifications/progress";
  }

  /** Checks only delivered messages, because a check costs more than parsing a line. */
  private deliver(value: unknown): void {
    let message: JSONRPCMessage | undefined;
    try {
      message = parseJSONRPCMessage(value);
    } catch {
      this.invalidLines += 1;
      message = refusalOf(value);
    }
    if (message) this.onmessage?.(message);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (!this.child || this.closed || this.child.exitCode !== null || this.child.signalCode !== null) {
      throw this.lost(this.ending ?? "it is not running");
    }
    const { stdin } = this.child;
    if (stdin.write(`${JSON.stringify(message)}\n`)) return;
    await new Promise<void>((done) => {
      stdin.once("drain", done);
      stdin.once("close", done);
    });
  }

  close(): Promise<void> {
    this.closed ??= this.end();
    return this.closed;
  }

  private async end(): Promise<void> {
    for (const line of this.backlog.splice(0)) this.take(line);
    this.options.gate.close();
    // Tell callers at once; `close` resolves when the processes have ended.
    this.onclose?.();
    if (this.child?.pid === undefined) return;
    this.child.stdin.end();
    await endProcesses(this.child.pid, this.marker, this.options.graceMs);
    // The engine keeps a container running whose client was killed.
    const { isContainer, command, env, cwd } = this.options;
    if (isContainer)
      await new Promise<unknown>((done) =>
        execFile(command, ["rm", "--force", this.containerName], { env, cwd, timeout: REMOVE_MS }, done),
      );
    this.forget();
    for (const stream of [this.child.stdin, this.child.stdout, this.child.stderr]) stream.destroy();
  }
}

/** Fails the call of an invalid answer, which would otherwise wait for its time limit. */
function refusalOf(value: unknown): JSONRPCMessage | undefined {
  const { id, method } = fieldsOf(value);
  if (method !== undefined || (typeof id !== "number" && typeof id !== "string")) return undefined;
  return { jsonrpc: "2.0", id, error: { code: INVALID_ANSWER, message: "its answer has a wrong form" } };
}

async function toCommandLine({ label, command, args, env, cwd: folder = "", isolation }: StdioOptions) {
  const cwd = resolve(folder);
  // A missing program is started without isolation, so that the error says so.
  const isolated =
    isolation && existsSync(cwd) && findCommand(command, env.PATH ?? DEFAULT_PATH, cwd) !== undefined
      ? await isolate({ command, args, env, cwd }, isolation)
      : undefined;
  if (isolated) return { ...isolated, isVerbatim: false };
  const plain = { env: {}, channels: [], attach: () => {} };
  if (process.platform !== "win32") return { command, args, isVerbatim: false, ...plain };
  const isFile = (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  return { ...toWindowsCommand(label, command, args, { env, cwd, isFile }), ...plain };
}

/** Keeps the end of an endless text, up to a size. */
export function createTextRing(maxBytes: number) {
  const chunks: Buffer[] = [];
  let size = 0;
  return {
    add: (chunk: Buffer): void => {
      // A copy, because a slice would keep the whole chunk in memory.
      const copy = Buffer.from(chunk.subarray(Math.max(0, chunk.length - maxBytes)));
      chunks.push(copy);
      size += copy.length;
      while (size - chunks[0]!.length >= maxBytes) size -= chunks.shift()!.length;
    },
    text: () => {
      const all = Buffer.concat(chunks);
      return all.subarray(Math.max(0, all.length - maxBytes)).toString("utf8");
    },
  };
}
