import { AsyncLocalStorage } from "node:async_hooks";
import { z } from "zod";
import { problem } from "../../schema/problem.ts";
import { type Agent, createAgent } from "../agent.ts";
import { run } from "../run.ts";
import { runContext } from "../run-context.ts";

export const taskInput = z.strictObject({
  task: z
    .string()
    .min(1)
    .max(50_000)
    .describe("everything that the sub-agent has to know; it sees nothing else of this conversation"),
});

/** Set while a sub-agent works: it gets no sub-agents of its own. */
const inside = new AsyncLocalStorage<true>();

/** Lets an agent with its own context do a task on the same gateway, with the same permissions. */
export async function runTask(agent: Agent, task: string, signal?: AbortSignal): Promise<string> {
  if (inside.getStore()) {
    throw problem("INVALID_INPUT", {
      operation: "task",
      reason: "a sub-agent has no sub-agents; do it yourself",
    });
  }
  const parent = runContext.getStore();
  const { sessions: _, ...options } = agent.options;
  const helper = createAgent({ ...options, limits: agent.limits });
  const tell = (text: string) => {
    const callId = parent?.call?.callId;
    if (callId !== undefined)
      parent?.emit({ type: "tool-output", callId, text: `${text}\n` }, parent.call?.span);
  };
  return inside.run(true, async () => {
    for await (const event of run(helper, task, {
      ...(signal && { signal }),
      ...(parent?.ask && { ask: parent.ask }),
    })) {
      if (event.type === "llm-end") {
        const { usage, model } = event;
        parent?.emit({ type: "llm-aside", by: "sub-agent", usage, ...(model !== undefined && { model }) });
      }
      if (event.type === "tool-start") tell(`${event.tool} ${JSON.stringify(event.args).slice(0, 120)}`);
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
