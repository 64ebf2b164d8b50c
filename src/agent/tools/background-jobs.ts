import { z } from "zod";
import { problem } from "../../base/problems/problem.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import { runCommand } from "../workspace/shell-tool.ts";

export const backgroundInput = z.strictObject({
  command: z.string().min(1).max(100_000).optional().describe("starts it"),
  job: z.string().max(20).optional().describe("shows the output of this job since the last look"),
  stop: z.boolean().default(false).describe("stops the job"),
});

const MOST_JOBS = 8;
const MOST_CHARS = 20_000;
const DAY_MS = 24 * 60 * 60_000;

interface Job {
  readonly controller: AbortController;
  readonly ended: Promise<void>;
  output: string;
  /** How it ended; undefined while it runs. */
  end: string | undefined;
}

/** Commands that run beside the conversation. They end with it. */
export class BackgroundJobs {
  readonly #folder: string;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #jobs = new Map<string, Job>();

  constructor(folder: string, environment: Readonly<Record<string, string>>) {
    this.#folder = folder;
    this.#environment = environment;
  }

  start(command: string): string {
    const running = [...this.#jobs.values()].filter(({ end }) => end === undefined).length;
    if (running >= MOST_JOBS)
      throw problem("LIMIT_EXCEEDED", { what: "Running jobs", actual: running + 1, limit: MOST_JOBS });
    const controller = new AbortController();
    const name = `job-${this.#jobs.size + 1}`;
    const ended = runCommand(command, {
      shell: "/bin/sh",
      folder: this.#folder,
      environment: this.#environment,
      timeoutMs: DAY_MS,
      maxBytes: 1_024,
      signal: controller.signal,
      onOutput: (text) => {
        job.output = `${job.output}${text}`.slice(-MOST_CHARS);
      },
    }).then(
      ({ exitCode, killedBy, stopped }) => {
        const how = killedBy ? `was killed by ${killedBy}` : `exited with ${exitCode}`;
        job.end = stopped ? "was stopped" : how;
      },
      (error: unknown) => {
        job.end = `failed: ${reasonOf(error)}`;
      },
    );
    const job: Job = { controller, ended, output: "", end: undefined };
    this.#jobs.set(name, job);
    return `[${name} runs] Look at its output with this job's name, and stop it when it is no longer needed.`;
  }

  /** The output since the last look, and whether the job still runs. */
  look(name: string): string {
    const job = this.#find(name);
    const { output, end = "still runs" } = job;
    job.output = "";
    return [`[${name} ${end}]`, output.trimEnd()].filter((part) => part !== "").join("\n");
  }

  async stop(name: string): Promise<string> {
    const job = this.#find(name);
    job.controller.abort();
    await job.ended;
    return this.look(name);
  }

  async close(): Promise<void> {
    for (const { controller } of this.#jobs.values()) controller.abort();
    await Promise.all([...this.#jobs.values()].map(({ ended }) => ended));
  }

  #find(name: string): Job {
    const job = this.#jobs.get(name);
    if (job) return job;
    throw problem("NOT_FOUND", { name: `Job ${name}` });
  }
}
