import { AsyncLocalStorage } from "node:async_hooks";
import { z } from "zod";
import { problem } from "../../base/problems/problem.ts";
import { defineDomain, defineTool } from "../../core/nouns/define.ts";
import type { CallContext } from "../../core/nouns/entry.ts";
import { coversTool, type NamedAgent } from "../chat/named-agents.ts";
import {
  type Agent,
  type AgentHooks,
  type AgentModel,
  type AgentOptions,
  createAgent,
} from "../loop/agent.ts";
import { run } from "../loop/run.ts";
import { beginCall, runContext, tellOutput } from "../loop/run-context.ts";
import type { Permissions } from "../permissions/permissions.ts";
import { refusal } from "../workspace/tool-problem.ts";
import { BackgroundJobs, backgroundInput } from "./background-jobs.ts";
import { createFetchPage, fetchInput } from "./fetch-page.ts";

const DESK = "desk";

const WAIT_MS = 60 * 60_000;

interface AgentToolsOptions {
  readonly permissions: Permissions;
  /** Variables of its commands. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Sub-agents with a role. */
  readonly helpers?: readonly NamedAgent[];
  /** The model of that name; undefined for the one in use. */
  modelNamed?(name: string): AgentModel | undefined;
}

/** Creates the tools of a terminal agent beside those of its folder. */
export function createAgentTools({
  permissions,
  environment = {},
  helpers = [],
  modelNamed,
}: AgentToolsOptions) {
  const pages = createFetchPage(permissions);
  const jobs = new BackgroundJobs(permissions.root, environment);
  let agent: Agent | undefined;

  async function background(
    { command, job, stop }: z.output<typeof backgroundInput>,
    { signal, ask }: CallContext,
  ): Promise<string> {
    if (job !== undefined) return stop ? jobs.stop(job) : jobs.look(job);
    if (command === undefined) {
      throw problem("INVALID_INPUT", { operation: "background", reason: "it needs a command or a job" });
    }
    const outcome = await permissions.command(command, signal, ask);
    if (!outcome.allowed) throw refusal("shell-run", outcome);
    beginCall();
    return jobs.start(command);
  }

  const domain = defineDomain({
    name: DESK,
    description: "The agent's desk: todo list, sub-agents, background commands, pages of the web",
    tools: [
      defineTool({
        name: "todo",
        op: `${DESK}.todo`,
        lane: "read",
        description: "Keep a todo list that the person sees; for work of three steps or more",
        phrases: ["plan the steps", "task list", "checklist", "track progress"],
        inputSchema: todoInput,
        examples: [{ args: { items: [{ text: "Find the failing test", state: "now" }] } }],
        execute: todoText,
      }),
      defineTool({
        name: "task",
        op: `${DESK}.task`,
        lane: "read",
        timeoutMs: WAIT_MS,
        description:
          "Let a sub-agent with a context of its own do a task and report; for long searches and readings",
        phrases: ["sub-agent", "delegate", "explore the code base", "research in parallel"],
        inputSchema: taskInput(helpers),
        examples: [
          { args: { task: "Find every place that reads the config file, and list path and line." } },
        ],
        execute: ({ task, agent: name }: { task: string; agent?: string | undefined }, { signal }) => {
          if (!agent) throw problem("INVALID_INPUT", { operation: "task", reason: "no agent is open" });
          const helper = helpers.find((each) => each.name === name);
          const model = helper?.model === undefined ? undefined : modelNamed?.(helper.model);
          return runTask(asHelper(agent.options, permissions.root, helper, model), task, signal);
        },
      }),
      defineTool({
        name: "background",
        op: `${DESK}.background`,
        lane: "write",
        asksItself: true,
        timeoutMs: WAIT_MS,
        description:
          "Run a command beside the conversation, such as a server or a watcher; look at its output; stop it",
        phrases: ["start dev server", "long running command", "watch mode", "tail the output"],
        inputSchema: backgroundInput,
        examples: [{ args: { command: "npm run dev" } }, { args: { job: "job-1" } }],
        execute: background,
      }),
      defineTool({
        name: "fetch",
        op: `${DESK}.fetch`,
        lane: "read",
        timeoutMs: WAIT_MS,
        description: "Read a page or file of the web by its address, as text",
        phrases: ["open url", "web page", "download documentation", "http get", "curl"],
        inputSchema: fetchInput,
        examples: [{ args: { url: "https://example.com/docs" } }],
        execute: ({ url }, context) => pages.read(url, context),
      }),
    ],
  });
  return {
    domain,
    /** Names the agent that sub-agents are made like. */
    use: (model: Agent) => {
      agent = model;
    },
    close: async () => {
      await jobs.close();
      await pages.close();
    },
  };
}

const todoInput = z.strictObject({
  items: z
    .array(
      z.strictObject({
        text: z.string().min(1).max(300),
        state: z.enum(["open", "now", "done"]).default("open"),
      }),
    )
    .max(50)
    .describe("the whole list, in order; it replaces the one before"),
});

const MARKS = { open: "☐", now: "▶", done: "☑" } as const;

function todoText({ items }: z.output<typeof todoInput>): string {
  const done = items.filter(({ state }) => state === "done").length;
  const lines = items.map(({ text, state }) => `${MARKS[state]} ${text}`);
  return [`${done} of ${items.length} done`, ...lines].join("\n");
}

const task = z
  .string()
  .min(1)
  .max(50_000)
  .describe("everything that the sub-agent has to know; it sees nothing else of this conversation");

function taskInput(helpers: readonly NamedAgent[]) {
  if (helpers.length === 0) return z.strictObject({ task });
  const roles = helpers.map(({ name, description }) => `${name} (${description})`).join("; ");
  const agent = z
    .enum(helpers.map(({ name }) => name))
    .optional()
    .describe(`a sub-agent with a role: ${roles}`);
  return z.strictObject({ task, agent });
}

/** The options of a sub-agent. One with a role has its own instructions, and only those tools that its file names. */
function asHelper(
  options: AgentOptions,
  root: string,
  helper: NamedAgent | undefined,
  model: AgentModel | undefined,
): AgentOptions {
  if (!helper) return options;
  const { instructions, tools } = helper;
  const { hooks } = options;
  const given = { ...options, instructions: `${instructions}\n\nFolder: ${root}`, ...(model && { model }) };
  if (!tools) return given;
  const beforeTool: AgentHooks["beforeTool"] = async (call) => {
    // A call of the model leads to calls of tools, which are judged one by one.
    if (call.aliases && !coversTool(tools, call.tool)) return `${helper.name} has no tool ${call.tool}`;
    return hooks?.beforeTool?.(call);
  };
  return { ...given, hands: tools, hooks: { ...hooks, beforeTool } };
}

/** Set while a sub-agent works: it gets no sub-agents of its own. */
const inside = new AsyncLocalStorage<true>();

/** Lets an agent with its own context do a task on the same gateway, with the same permissions. */
async function runTask(
  { sessions: _, ...options }: AgentOptions,
  task: string,
  signal: AbortSignal,
): Promise<string> {
  if (inside.getStore()) {
    throw problem("INVALID_INPUT", {
      operation: "task",
      reason: "a sub-agent has no sub-agents; do it yourself",
    });
  }
  const parent = runContext.getStore();
  const helper = createAgent(options);
  return inside.run(true, async () => {
    for await (const event of run(helper, task, { signal, ...(parent?.ask && { ask: parent.ask }) })) {
      if (event.type === "llm-end") {
        const { usage, model } = event;
        parent?.emit({ type: "llm-aside", by: "sub-agent", usage, ...(model !== undefined && { model }) });
      }
      if (event.type === "tool-start")
        tellOutput(`${event.tool} ${JSON.stringify(event.args).slice(0, 120)}\n`, parent);
      // Its questions are questions of the call in which it works.
      if (event.type === "permission-request" || event.type === "permission-answer") {
        const { span: _span, ...question } = event;
        parent?.emit({ ...question, callId: parent.call?.callId ?? event.callId });
      }
      if (event.type !== "agent-end") continue;
      const { outcome, text, error } = event;
      if (outcome === "answered") return text;
      return `[the sub-agent ended: ${outcome}${error ? `, ${error.message}` : ""}]\n${text}`;
    }
    return "";
  });
}
