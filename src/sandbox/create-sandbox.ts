import { availableParallelism } from "node:os";
import { problem } from "../schema/problem.ts";
import type { Sandbox, ScriptOutcome } from "./sandbox.ts";
import { createWorkerThread, type WorkerThread } from "./worker-thread.ts";

/** Most scripts wait for tools, so there are more threads than cores. */
const THREADS_PER_CORE = 4;
const MOST_THREADS = 32;
const MOST_WAITING = 1_000;
/** Threads that are kept ready for the next scripts. */
const KEPT = 4;

interface Waiting {
  readonly owner: string;
  readonly begin: (thread: WorkerThread) => void;
  readonly refuse: (error: Error) => void;
}

/** Creates a sandbox. Its threads start with the first scripts, and some are kept for the next ones. */
export function createSandbox(): Sandbox {
  const most = Math.min(MOST_THREADS, availableParallelism() * THREADS_PER_CORE);
  const mostOfOne = Math.max(1, most - 1);
  const idle: WorkerThread[] = [];
  const running = new Map<string, number>();
  const waiting: Waiting[] = [];
  const threads = new Set<WorkerThread>();
  let closed = false;

  /** Takes the thread that has been idle for longest: it has its machine ready. One more is kept for the next script. */
  function take(): WorkerThread {
    const ready = idle.shift() ?? add();
    if (idle.length === 0 && threads.size < KEPT) idle.push(add());
    return ready;
  }

  function add(): WorkerThread {
    const thread = createWorkerThread();
    threads.add(thread);
    return thread;
  }

  function total(): number {
    return running.values().reduce((sum, count) => sum + count, 0);
  }

  function startNext(): void {
    while (total() < most) {
      const index = waiting.findIndex(({ owner }) => (running.get(owner) ?? 0) < mostOfOne);
      if (index < 0) return;
      const [next] = waiting.splice(index, 1);
      running.set(next!.owner, (running.get(next!.owner) ?? 0) + 1);
      next!.begin(take());
    }
  }

  function giveBack(thread: WorkerThread, owner: string): void {
    const left = (running.get(owner) ?? 1) - 1;
    if (left === 0) running.delete(owner);
    else running.set(owner, left);
    if (thread.alive && idle.length < KEPT && !closed) idle.push(thread);
    else {
      threads.delete(thread);
      void thread.end();
    }
    startNext();
  }

  return {
    run: async (script, host, { signal, owner }): Promise<ScriptOutcome> => {
      if (closed) throw problem("CLOSED");
      if (waiting.length >= MOST_WAITING)
        throw problem("LIMIT_EXCEEDED", {
          what: "The number of scripts",
          actual: waiting.length,
          limit: MOST_WAITING,
        });
      const { promise, resolve, reject } = Promise.withResolvers<WorkerThread>();
      waiting.push({ owner, begin: resolve, refuse: reject });
      startNext();
      const thread = await promise;
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
