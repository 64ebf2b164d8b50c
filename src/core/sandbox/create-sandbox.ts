import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { MessageChannel, Worker } from "node:worker_threads";
import { problem } from "../../base/problems/problem.ts";
import { lazy } from "../../base/util/lazy.ts";
import {
  type FromWorker,
  type MissingField,
  type Sandbox,
  type Script,
  type ScriptAnswer,
  type ScriptEnd,
  type ScriptHost,
  type ScriptOutcome,
  SHARED_BYTES,
  type StopReason,
  sharedState,
  type ToWorker,
} from "./sandbox.ts";

/** Most scripts wait for tools, so threads exceed cores. */
const THREADS_PER_CORE = 4;
const FEWEST_THREADS = 8;
const MOST_THREADS = 32;
const MOST_WAITING = 1_000;
/** Idle threads that stay ready for the next scripts. */
const MOST_IDLE = 4;

interface WaitingScript {
  readonly owner: string;
  readonly begin: (thread: WorkerThread) => void;
  readonly refuse: (error: Error) => void;
}

/** Creates a sandbox. Threads start with the first scripts; some stay for later scripts. */
export function createSandbox(): Sandbox {
  const threadCount = availableParallelism() * THREADS_PER_CORE;
  const most = Math.min(MOST_THREADS, Math.max(FEWEST_THREADS, threadCount));
  const idle: WorkerThread[] = [];
  const running = new Map<string, number>();
  const waiting: WaitingScript[] = [];
  const threads = new Set<WorkerThread>();
  let closed = false;

  /** Takes the longest idle thread, because its machine is ready. Starts a spare one for the next script. */
  function take(): WorkerThread {
    const ready = idle.shift() ?? add();
    if (idle.length === 0 && threads.size < MOST_IDLE) idle.push(add());
    return ready;
  }

  function add(): WorkerThread {
    const thread = createWorkerThread();
    threads.add(thread);
    return thread;
  }

  const runningOf = (owner: string) => running.get(owner) ?? 0;

  /** Gives threads to the owners with the fewest, and in the order of their scripts. */
  function startNext(): void {
    for (;;) {
      const free = most - running.values().reduce((sum, count) => sum + count, 0);
      const entitled = waiting.filter(({ owner }) => isFair(runningOf(owner), free));
      const fewest = Math.min(...entitled.map(({ owner }) => runningOf(owner)));
      const next = entitled.find(({ owner }) => runningOf(owner) === fewest);
      if (!next) return;
      waiting.splice(waiting.indexOf(next), 1);
      running.set(next.owner, fewest + 1);
      next.begin(take());
    }
  }

  /** Waits for a thread. Undefined if the caller left. */
  async function queue(owner: string, signal: AbortSignal): Promise<WorkerThread | undefined> {
    const waitingOf = waiting.filter((script) => script.owner === owner).length;
    if (!isFair(waitingOf, MOST_WAITING - waiting.length)) {
      const fills = { what: "The number of scripts that wait", actual: waitingOf + 1, limit: waitingOf };
      throw problem("LIMIT_EXCEEDED", fills);
    }
    const { promise, resolve, reject } = Promise.withResolvers<WorkerThread | undefined>();
    const script = { owner, begin: resolve, refuse: reject };
    const leave = () => {
      const at = waiting.indexOf(script);
      if (at >= 0) waiting.splice(at, 1);
      resolve(undefined);
    };
    signal.addEventListener("abort", leave, { once: true });
    waiting.push(script);
    startNext();
    return promise.finally(() => signal.removeEventListener("abort", leave));
  }

  function giveBack(thread: WorkerThread, owner: string): void {
    running.set(owner, runningOf(owner) - 1);
    if (runningOf(owner) === 0) running.delete(owner);
    if (thread.alive && idle.length < MOST_IDLE && !closed) idle.push(thread);
    else {
      threads.delete(thread);
      void thread.end();
    }
    startNext();
  }

  return {
    run: async (script, host, { signal, owner }): Promise<ScriptOutcome> => {
      if (closed) throw problem("CLOSED");
      const thread = await queue(owner, signal);
      if (!thread) return { end: { end: "stopped", why: "cancelled" }, logs: [], misses: [] };
      try {
        return await thread.run(script, host, signal);
      } finally {
        giveBack(thread, owner);
      }
    },
    close: async () => {
      closed = true;
      for (const { refuse } of waiting.splice(0)) refuse(problem("CLOSED"));
      await Promise.all([...threads].map((thread) => thread.end()));
    },
  };
}

/** An owner may hold as many threads as are free, so that some remain for the next owner. */
function isFair(ofOwner: number, free: number): boolean {
  return ofOwner < free;
}

/** A thread that runs one script after another. */
interface WorkerThread {
  run(script: Script, host: ScriptHost, signal: AbortSignal): Promise<ScriptOutcome>;
  /** Whether it can run another script. */
  readonly alive: boolean;
  end(): Promise<void>;
}

const HEAP_MB = 128;
const CHECK_MS = 50;
/** The machine itself ends a script that computes too long, except within one long step of the engine. */
const GRACE_MS = 250;
/** As in the machine. */
const CLOCK = 2 ** 30;

/** The worker's file: next to this one in the source tree, in its own folder in the built package. */
const workerFile = lazy(() => {
  const places = ["./worker.ts", "../core/sandbox/worker.js", "./core/sandbox/worker.js", "./worker.js"];
  const files = places.map((place) => new URL(place, import.meta.url));
  return files.find((file) => existsSync(file)) ?? files[0]!;
});

function createWorkerThread(): WorkerThread {
  const { port1: port, port2 } = new MessageChannel();
  const worker = new Worker(workerFile(), {
    workerData: { port: port2 },
    transferList: [port2],
    // Scripts cannot read the environment; a script that breaks out must find none either.
    env: {},
    argv: [],
    execArgv: [],
    stdin: false,
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
  });
  let alive = true;
  let running: ReturnType<typeof startScript> | undefined;
  port.on("message", (message: FromWorker) => {
    try {
      running?.onMessage(message);
    } catch {
      // A script may make its thread send anything: end only that script.
      running?.stop("crashed");
    }
  });
  keepsProcess(false);
  worker.on("error", () => running?.stop("crashed"));
  worker.on("exit", () => {
    alive = false;
    running?.stop("crashed");
  });

  /** An idle thread must not keep the process alive. */
  function keepsProcess(keeps: boolean): void {
    for (const part of [worker, port]) keeps ? part.ref() : part.unref();
  }

  async function end(): Promise<void> {
    alive = false;
    await worker.terminate();
  }

  return {
    get alive() {
      return alive;
    },
    end,
    run: async (script, host, signal) => {
      keepsProcess(true);
      const post = (message: ToWorker) => port.postMessage(message);
      running = startScript(script, host, signal, post, () => void end());
      const outcome = await running.ended;
      running = undefined;
      keepsProcess(false);
      return outcome;
    },
  };
}

/** Starts a script and serves it to its end. `endThread` is called if it had to be stopped. */
function startScript(
  script: Script,
  host: ScriptHost,
  signal: AbortSignal,
  post: (message: ToWorker) => void,
  endThread: () => void,
) {
  const { promise: ended, resolve } = Promise.withResolvers<ScriptOutcome>();
  const logs: string[] = [];
  const misses: MissingField[] = [];
  const state = new SharedArrayBuffer(SHARED_BYTES);
  const { clock, answers } = sharedState(state);
  const { timeMs, computeMs } = script.limits;
  let requests = 0;
  let isOver = false;
  const timer = setTimeout(() => stop("time"), timeMs);
  const watch = setInterval(() => {
    const since = Atomics.load(clock, 0);
    const busy = since === 0 ? 0 : ((Date.now() % CLOCK) + 1 - since + CLOCK) % CLOCK;
    if (busy > computeMs + GRACE_MS) stop("compute");
  }, CHECK_MS);
  const cancel = () => stop("cancelled");
  signal.addEventListener("abort", cancel, { once: true });
  if (signal.aborted) cancel();
  else post({ script, state });

  function finish(end: ScriptEnd): void {
    isOver = true;
    clearTimeout(timer);
    clearInterval(watch);
    signal.removeEventListener("abort", cancel);
    resolve({ end, logs, misses });
  }

  /** A thread whose script did not end cannot be used again. */
  function stop(why: StopReason): void {
    if (isOver) return;
    endThread();
    finish({ end: "stopped", why });
  }

  function serve(json: string): void {
    const number = ++requests;
    host.request(JSON.parse(json), number, (answer) => {
      // A call may outlive its script, whose thread then runs another.
      if (isOver) return;
      post(toText(number, answer));
      Atomics.add(answers, 0, 1);
      Atomics.notify(answers, 0);
    });
  }

  return {
    ended,
    stop,
    onMessage: (message: FromWorker): void => {
      if (isOver) return;
      if (typeof message === "string") serve(message);
      else if (message.type === "log") logs.push(message.text);
      else if (message.type === "miss") misses.push(message.miss);
      else {
        if (message.isSpent) endThread();
        finish(message.outcome);
      }
    },
  };
}

/**
 * An answer in the format of the prelude. The text of a problem stays unchanged: the host recognises problems by it.
 */
function toText(number: number, { ok, value, label = "" }: ScriptAnswer): string {
  const json = JSON.stringify(value) ?? "null";
  return ok ? `[${number},${JSON.stringify(label)},${json}]` : `[${number},null,${JSON.stringify(json)}]`;
}
