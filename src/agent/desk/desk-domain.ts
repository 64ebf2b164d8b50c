import { createGuardedFetch } from "../../net/guarded-fetch.ts";
import type { DomainDefinition } from "../../schema/definition.ts";
import type { CallContext } from "../../schema/entry.ts";
import { problem, problemSaying } from "../../schema/problem.ts";
import { defineDomain } from "../../sources/code/define.ts";
import type { Agent } from "../agent.ts";
import type { Permissions } from "../permissions/permissions.ts";
import { backgroundInput, createBackgroundJobs } from "./background-jobs.ts";
import { createFetchPage, fetchInput } from "./fetch-page.ts";
import { runTask, taskInput } from "./sub-agent.ts";
import { todoInput, todoText } from "./todo-list.ts";

/** The name of the domain, whose tools ask for permission themselves. */
export const DESK = "desk";

/** The tools of a terminal agent beside those of its folder. */
export interface Desk {
  readonly domain: DomainDefinition;
  /** Names the agent that sub-agents are made like. */
  use(agent: Agent): void;
  /** Stops what runs in the background. */
  close(): Promise<void>;
}

const WAIT_MS = 60 * 60_000;

export function createDesk(permissions: Permissions): Desk {
  const guarded = createGuardedFetch({ redirects: "same-origin" });
  const fetchPage = createFetchPage(guarded);
  const jobs = createBackgroundJobs(permissions.root);
  let agent: Agent | undefined;

  async function background(input: unknown, { signal }: CallContext): Promise<string> {
    const { command, job, stop } = backgroundInput.parse(input);
    if (job !== undefined) return stop ? jobs.stop(job) : jobs.look(job);
    if (command === undefined) {
      throw problem("INVALID_INPUT", { operation: "background", reason: "it needs a command or a job" });
    }
    const { allowed, reason } = await permissions.command(command, signal);
    if (allowed) return jobs.start(command);
    const next = "Do not try another way: ask the person, or go on without it.";
    throw problemSaying("PERMISSION_DENIED", `shell-run: ${reason}`, next);
  }

  const domain = defineDomain({
    name: DESK,
    description: "The agent's desk: todo list, sub-agents, background commands, pages of the web",
    tools: [
      {
        name: "todo",
        op: `${DESK}.todo`,
        lane: "read",
        description: "Keep a todo list that the person sees; for work of three steps or more",
        phrases: ["plan the steps", "task list", "checklist", "track progress"],
        inputSchema: todoInput,
        examples: [{ args: { items: [{ text: "Find the failing test", state: "now" }] } }],
        execute: async (input: unknown) => todoText(todoInput.parse(input)),
      },
      {
        name: "task",
        op: `${DESK}.task`,
        lane: "read",
        timeoutMs: WAIT_MS,
        description:
          "Let a sub-agent with a context of its own do a task and report; for long searches and readings",
        phrases: ["sub-agent", "delegate", "explore the code base", "research in parallel"],
        inputSchema: taskInput,
        examples: [
          { args: { task: "Find every place that reads the config file, and list path and line." } },
        ],
        execute: async (input: unknown, { signal }: CallContext) => {
          if (!agent) throw problem("INVALID_INPUT", { operation: "task", reason: "no agent is open" });
          return runTask(agent, taskInput.parse(input).task, signal);
        },
      },
      {
        name: "background",
        op: `${DESK}.background`,
        lane: "write",
        timeoutMs: WAIT_MS,
        description:
          "Run a command beside the conversation, such as a server or a watcher; look at its output; stop it",
        phrases: ["start dev server", "long running command", "watch mode", "tail the output"],
        inputSchema: backgroundInput,
        examples: [{ args: { command: "npm run dev" } }, { args: { job: "job-1" } }],
        execute: background,
      },
      {
        name: "fetch",
        op: `${DESK}.fetch`,
        lane: "read",
        timeoutMs: WAIT_MS,
        description: "Read a page or file of the web by its address, as text",
        phrases: ["open url", "web page", "download documentation", "http get", "curl"],
        inputSchema: fetchInput,
        examples: [{ args: { url: "https://example.com/docs" } }],
        execute: async (input: unknown, { signal }: CallContext) =>
          fetchPage(fetchInput.parse(input).url, signal),
      },
    ],
  });
  return {
    domain,
    use: (given) => {
      agent = given;
    },
    close: async () => {
      await jobs.close();
      await guarded.close();
    },
  };
}
