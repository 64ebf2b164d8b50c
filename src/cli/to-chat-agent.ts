import type { AgentSession } from "../agent/agent.ts";
import type { AgentEvent } from "../agent/agent-event.ts";
import type { Ask, AskAnswer } from "../agent/ask-request.ts";
import { createEventQueue } from "../agent/event-queue.ts";
import { run } from "../agent/run.ts";
import { runContext, type Untraced } from "../agent/run-context.ts";
import { newSpan } from "../telemetry/trace-context.ts";
import type { ChatAgent, Fact, PastMessage, RunOptions, Topic } from "../tui/chat-agent.ts";
import { toContextReport } from "../tui/context-report.ts";
import { reasonOf } from "../util/reason-of.ts";
import type { OpenedAgent } from "./open-agent.ts";

export interface OpenedChat {
  readonly agent: ChatAgent;
  /** The messages of a resumed session. */
  readonly past: readonly PastMessage[];
  close(): Promise<void>;
}

/** Adapts an agent to the chat. */
export async function toChatAgent(opened: OpenedAgent, resume?: string): Promise<OpenedChat> {
  const { agent, gateway, loaded } = opened;
  const waiting = new Map<string, (answer: AskAnswer) => void>();
  let session = await agent.openSession(resume === undefined ? {} : { resume });
  let lastInput = 0;
  let requests = 0;
  let ownCalls = 0;

  const ask: Ask = ({ callId }, signal) => {
    const { promise, resolve } = Promise.withResolvers<AskAnswer>();
    waiting.set(callId, resolve);
    signal.addEventListener("abort", () => resolve("deny"), { once: true });
    return promise.finally(() => waiting.delete(callId));
  };

  async function* converse(prompt: string, { signal }: RunOptions): AsyncGenerator<AgentEvent> {
    for await (const event of opened.observe(run(agent, prompt, { session, signal, ask }))) {
      if (event.type === "llm-end") {
        lastInput = event.usage.input;
        requests += 1;
      }
      yield event;
    }
  }

  /** Runs a tool for the person, outside of a run, with the same permissions as the model's calls. */
  async function* call(tool: "shell" | "read", args: Record<string, unknown>, { signal }: RunOptions) {
    const queue = createEventQueue<AgentEvent>();
    const span = newSpan();
    const callId = `own-${++ownCalls}`;
    const emit = (event: Untraced) => queue.push({ ...event, span } as AgentEvent);
    async function play(): Promise<void> {
      const started = performance.now();
      emit({ type: "tool-start", callId, tool, args });
      const { ok, text } = await gateway.exec({ op: `workspace.${tool}`, args }, { signal }).then(
        (answer) => ({ ok: answer.ok, text: answer.ok ? resultText(answer.result) : answer.text }),
        (error: unknown) => ({ ok: false, text: reasonOf(error) }),
      );
      emit({ type: "tool-end", callId, tool, ok, text, ms: performance.now() - started });
    }
    const ended = runContext.run({ emit, ask, signal, call: { callId, span } }, play).finally(queue.close);
    yield* queue.values();
    await ended;
  }

  async function list(topic: Topic): Promise<readonly Fact[]> {
    const { settings } = loaded;
    switch (topic) {
      case "tools": {
        const { entries } = await gateway.view();
        const tools = [...entries].filter(
          ({ kind, visibility }) => kind === "tool" && visibility !== "hidden",
        );
        return tools.map(({ op, route, description }) => ({ name: op ?? route, text: description }));
      }
      case "skills":
        return (agent.options.skills ?? []).map(({ name, description }) => ({ name, text: description }));
      case "models":
        return [{ name: opened.modelName(), text: "In use. /model NAME changes it." }];
      case "permissions":
        return permissionFacts(settings.permissions);
      case "telemetry": {
        const { enabled, endpoint } = settings.telemetry;
        return [{ name: "telemetry", text: enabled ? `on, sent to ${endpoint}` : "off" }];
      }
      case "sessions": {
        const known = (await agent.options.sessions?.list()) ?? [];
        return known.slice(0, 20).map(({ id, prompt = "" }) => ({ name: id, text: prompt }));
      }
    }
  }

  async function open(wanted?: string): Promise<void> {
    const next = await agent.openSession(wanted === undefined ? {} : { resume: wanted });
    await session.end();
    session = next;
    lastInput = 0;
  }

  return {
    past: pastOf(session),
    close: () => session.end(),
    agent: {
      model: opened.modelName,
      run: converse,
      shell: (command, options) => call("shell", { command }, options),
      read: (path, options) => call("read", { path }, options),
      answerPermission: (callId, answer) => waiting.get(callId)?.(answer),
      context: async () => toContextReport(await gateway.ledger(), { requests, lastInput }),
      list,
      setModel: async (name) => opened.setModel(name),
      resume: async (wanted = "last") => {
        await open(wanted);
        return pastOf(session);
      },
      clear: () => open(),
    },
  };
}

function permissionFacts(permissions: OpenedAgent["loaded"]["settings"]["permissions"]): Fact[] {
  const facts = (["user", "project"] as const).flatMap((owner) =>
    (["allow", "ask", "deny"] as const).flatMap((verdict) =>
      permissions[owner][verdict].map((rule) => ({
        name: `${verdict} ${rule}`,
        text: `a rule of the ${owner}`,
      })),
    ),
  );
  return [
    ...facts,
    { name: "fs-read", text: "allowed inside the project; sensitive paths ask" },
    { name: "everything else", text: "asks" },
  ];
}

/** The readable part of a result: the output of a command or the content of a file. */
function resultText(result: unknown): string {
  const { output, text, stdout, content } = (result ?? {}) as Record<string, unknown>;
  const found = [output, text, stdout, content].find((each) => typeof each === "string");
  return typeof found === "string" ? found : JSON.stringify(result ?? null, null, 2);
}

function pastOf({ messages }: AgentSession): PastMessage[] {
  return messages.flatMap(({ role, content }): PastMessage[] => {
    if (role !== "user" && role !== "assistant") return [];
    const parts = typeof content === "string" ? [{ type: "text", text: content }] : content;
    const text = parts.map((part) => ("text" in part && part.type === "text" ? part.text : "")).join("");
    return text.trim() === "" ? [] : [{ role, text }];
  });
}
