import { z } from "zod";
import { problem } from "../../base/problems/problem.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import { runCommand } from "../workspace/shell-tool.ts";

export const backgroundInput = z.strictObject({
  command: z.string().min(1).max(100_000).optional().describe("starts it"),
  job: z.string().max(20).optional().describe("shows the output of this job since the last look"),
  stop: z.boolean().default(false).describe("stops the job"),
});

/** Commands that run beside the conversation. They end with it. */
export interface BackgroundJobs {
  start(command: string): string;
  /** The output since the last look, and whether the job still runs. */
  look(job: string): string;
  stop(job: string): Promise<string>;
  close(): Promise<void>;
}

const MOST_JOBS = 8;
const MOST_CHARS = 20_000;
const DAY_MS = 24 * 60 * 60_000;

interface Job {
  readonly command: string;
  readonly controller: AbortController;
  readonly ended: Promise<void>;
  output: string;
  /** How it ended; undefined while it runs. */
  end: string | undefined;
}

export function createBackgroundJobs(folder: string): BackgroundJobs {
  const jobs = new Map<string, Job>();

  function find(name: string): Job {
    const job = jobs.get(name);
    if (job) return job;
    throw problem("NOT_FOUND", { name: `Job ${name}` });
  }

  function look(name: string): string {
    const job = find(name);
    const { output, end = "still runs" } = job;
    job.output = "";
    return [`[${name} ${end}]`, output.trimEnd()].filter((part) => part !== "").join("\n");
  }

  return {
    start: (command) => {
      const running = [...jobs.values()].filter(({ end }) => end === undefined);
      if (running.length >= MOST_JOBS)
        throw problem("LIMIT_EXCEEDED", {
          what: "Running jobs",
          actual: running.length + 1,
          limit: MOST_JOBS,
        });
      const controller = new AbortController();
      const name = `job-${jobs.size + 1}`;
      const ended = runCommand(command, {
        shell: "/bin/sh",
        folder,
        environment: [],
        timeoutMs: DAY_MS,
        maxBytes: 1_024,
        signal: controller.signal,
        onOutput: (text) => {
          job.output = `${job.output}${text}`.slice(-MOST_CHARS);
        },
      }).then(
        ({ exitCode, killedBy, stopped }) => {
          job.end = stopped
            ? "was stopped"
            : killedBy
              ? `was killed by ${killedBy}`
              : `exited with ${exitCode}`;
        },
        (error: unknown) => {
          job.end = `failed: ${reasonOf(error)}`;
        },
      );
      const job: Job = { command, controller, ended, output: "", end: undefined };
      jobs.set(name, job);
      return `[${name} runs] Look at its output with this job's name, and stop it when it is no longer needed.`;
    },
    look,
    stop: async (name) => {
      const job = find(name);
      job.controller.abort();
      await job.ended;
      return look(name);
    },
    close: async () => {
      for (const { controller } of jobs.values()) controller.abort();
      await Promise.all([...jobs.values()].map(({ ended }) => ended));
    },
  };
}
