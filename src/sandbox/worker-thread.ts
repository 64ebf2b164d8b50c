import { existsSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { lazy } from "../util/lazy.ts";
import type { FromWorker, Miss, Script, ScriptEnd, StopReason, ToWorker } from "./messages.ts";
import type { ScriptHost, ScriptOutcome } from "./sandbox.ts";

/** A thread that runs one script after another. */
export interface WorkerThread {
  run(script: Script, host: ScriptHost, signal: AbortSignal): Promise<ScriptOutcome>;
  /** Whether it can run another script. */
  readonly alive: boolean;
  end(): Promise<void>;
}

const HEAP_MB = 128;
const CHECK_MS = 50;
/** The machine ends a script that computes for too long by itself, except inside one long step of the engine. */
const GRACE_MS = 250;
/** As in the machine. */
const CLOCK = 2 ** 30;

/** The worker's file: beside this one in the source tree, in a folder of its own in the built package. */
const workerFile = lazy(() => {
  const places = ["./worker.ts", "../sandbox/worker.js", "./sandbox/worker.js", "./worker.js"];
  const files = places.map((place) => new URL(place, import.meta.url));
  return files.find((file) => existsSync(file)) ?? files[0]!;
});

export function createWorkerThread(): WorkerThread {
  const worker = new Worker(workerFile(), {
    // Scripts see none of these, but neither should a break-out.
    env: {},
    argv: [],
    execArgv: [],
    stdin: false,
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
  });
  worker.unref();
  let alive = true;
  let running: { onMessage(message: FromWorker): void; stop(why: StopReason): void } | undefined;
  worker.on("message", (message: FromWorker) => running?.onMessage(message));
  worker.on("error", () => running?.stop("crashed"));
  worker.on("exit", () => {
    alive = false;
    running?.stop("crashed");
  });

  async function end(): Promise<void> {
    alive = false;
    await worker.terminate();
  }

  return {
    get alive() {
      return alive;
    },
    end,
    run: (script, host, signal) => {
      const { promise, resolve } = Promise.withResolvers<ScriptOutcome>();
      const logs: string[] = [];
      const misses: Miss[] = [];
      const state = new SharedArrayBuffer(4);
      const clock = new Int32Array(state);
      const { timeMs, computeMs } = script.limits;
      worker.ref();
      const finish = (outcome: ScriptEnd) => {
        if (!running) return;
        running = undefined;
        clearTimeout(timer);
        clearInterval(watch);
        signal.removeEventListener("abort", cancel);
        worker.unref();
        resolve({ end: outcome, logs, misses });
      };
      /** A thread whose script was not at its end cannot be used again. */
      const stop = (why: StopReason) => {
        if (running) void end();
        finish({ end: "stopped", why });
      };
      const cancel = () => stop(signal.reason === STOPPED ? "stopped" : "cancelled");
      const timer = setTimeout(() => stop("time"), timeMs);
      const watch = setInterval(() => {
        const since = Atomics.load(clock, 0);
        const busy = since === 0 ? 0 : ((Date.now() % CLOCK) + 1 - since + CLOCK) % CLOCK;
        if (busy > computeMs + GRACE_MS) stop("compute");
      }, CHECK_MS);
      running = {
        stop,
        onMessage: (message) => {
          if (message.type === "log") logs.push(message.text);
          else if (message.type === "miss") misses.push(message.miss);
          else if (message.type === "end") finish(message.outcome);
          else if (message.type === "request") serve(message, host, (answer) => running && post(answer));
        },
      };
      signal.addEventListener("abort", cancel, { once: true });
      if (signal.aborted) cancel();
      else post({ type: "start", script, state });
      return promise;
    },
  };

  function post(message: ToWorker): void {
    worker.postMessage(message);
  }
}

/** The reason of a signal that ends a script because its host wants no more of it. */
export const STOPPED = "stopped";

function serve(
  { id, json }: Extract<FromWorker, { type: "request" }>,
  host: ScriptHost,
  reply: (answer: Extract<ToWorker, { type: "answer" }>) => void,
): void {
  const request = JSON.parse(json);
  host.request(request, id, ({ ok, value, label = "" }) =>
    reply({ type: "answer", id, ok, json: JSON.stringify(value) ?? "null", label }),
  );
}
