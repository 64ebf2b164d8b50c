import type { AgentEvent } from "../src/agent/loop/agent-event.ts";
import type {
  ChatAgent,
  Fact,
  PermissionAnswer,
  PermissionMode,
  Topic,
} from "../src/agent/tui/chat-agent.ts";

const SPAN = { traceId: "t", spanId: "s" };
const USAGE = { input: 100, output: 20, cached: 0 };

type Told<E = AgentEvent> = E extends AgentEvent ? Omit<E, "span"> : never;

/** An event as an agent emits it. */
export function told(event: Told): AgentEvent {
  return { span: SPAN, ...event } as AgentEvent;
}

/** Actions of a scripted turn besides emitting events. */
export interface Stage {
  readonly signal: AbortSignal;
  /** Asks for a permission and returns the person's answer. */
  permission(
    callId: string,
    action: string,
    more?: { scope?: string; diff?: string; always?: readonly string[]; keptIn?: string },
  ): AsyncGenerator<AgentEvent, PermissionAnswer>;
  /** Waits until the turn is cancelled. */
  cancelled(): Promise<void>;
}

export type Turn = (prompt: string, stage: Stage) => AsyncGenerator<AgentEvent>;

export interface ScriptedAgent extends ChatAgent {
  readonly prompts: readonly string[];
}

/** A terminal agent that plays scripted turns in order. */
export function createScriptedAgent(turns: readonly Turn[], more: Partial<ChatAgent> = {}): ScriptedAgent {
  const prompts: string[] = [];
  const waiting = new Map<string, (answer: PermissionAnswer) => void>();
  let model = "scripted";
  let mode: PermissionMode = "ask";
  let thinking: string | undefined;

  const stageOf = (signal: AbortSignal): Stage => ({
    signal,
    permission: async function* (callId, action, more = {}) {
      const { promise, resolve } = Promise.withResolvers<PermissionAnswer>();
      waiting.set(callId, resolve);
      yield told({
        type: "permission-request",
        callId,
        scope: "shell-run",
        action,
        reason: "No rule allows it.",
        always: [],
        ...more,
      });
      const answer = await promise;
      const isNo = answer === "nobody" || (typeof answer === "object" && "deny" in answer);
      const yes = typeof answer === "object" ? "always" : answer;
      const instead = typeof answer === "object" && "deny" in answer && { instead: answer.deny };
      yield told({
        type: "permission-answer",
        callId,
        answer: isNo || yes === "nobody" ? "deny" : yes,
        ...instead,
      });
      return answer;
    },
    cancelled: () =>
      new Promise((resolve) => {
        if (signal.aborted) resolve();
        signal.addEventListener("abort", () => resolve(), { once: true });
      }),
  });

  async function* one(tool: string, args: object, text: string): AsyncGenerator<AgentEvent> {
    yield told({ type: "tool-start", callId: tool, tool, args });
    yield told({ type: "tool-end", callId: tool, tool, ok: true, text, ms: 3 });
  }

  return {
    prompts,
    run: (prompt, { signal }) => {
      prompts.push(prompt);
      const turn = turns[prompts.length - 1];
      return turn ? turn(prompt, stageOf(signal)) : answer(`There is no turn ${prompts.length}.`);
    },
    shell: (command) => one("shell", { command }, `ran ${command}`),
    read: (path) => one("read", { path }, `content of ${path}`),
    answerPermission: (callId, given) => waiting.get(callId)?.(given as PermissionAnswer),
    cardOf: () => undefined,
    context: async () => ({
      parts: [
        { name: "tools", tokens: 400 },
        { name: "prompts", tokens: 600 },
      ],
      total: 1_000,
      window: 200_000,
      assumed: false,
      everything: 42_000,
    }),
    compact: async function* () {
      yield told({ type: "context-compacted", by: "model", replaced: 4, before: 900, after: 90 });
    },
    image: async () => undefined,
    clipboard: async () => undefined,
    setMode: (next) => {
      mode = next;
    },
    status: () => ({ mode, model, thinking, tokens: 1_234, window: 200_000, cost: 0.5 }),
    choices: async (topic, about = "") => [
      { id: "first", name: `${topic} one${about && ` of ${about}`}`, text: "the first" },
      { id: "second", name: `${topic} two`, text: "the second" },
    ],
    rewind: async (message, what) => ({
      ...(what !== "files" && { past: [{ role: "user" as const, text: "Before?" }] }),
      prompt: `again ${message}`,
      lines: what === "conversation" ? [] : ["Restored a.ts."],
    }),
    addNote: async (file, note) => `Added to ${file}: ${note}`,
    setThinking: (level) => {
      thinking = level;
    },
    undo: async () => ["Restored a.ts."],
    trust: async function* () {
      yield told({ type: "notice", text: "The folder is trusted already." });
    },
    mcp: async (words) => [{ name: "shop", text: `works ${words.join(" ")}`.trim() }],
    news: async () => [],
    decideServer: async function* (words) {
      yield told({ type: "notice", text: `Asked: ${words.join(" ")}.` });
    },
    commands: () => [{ name: "review", summary: "Reviews the change." }],
    expand: async (name, argument) => `Prompt of ${name}: ${argument}`,
    say: () => {},
    list: async (topic: Topic): Promise<Fact[]> => [
      { name: `${topic}.one`, text: `What there is of ${topic}.` },
    ],
    setModel: async (name) => {
      model = name;
    },
    resume: async () => [
      { role: "user", text: "Before?" },
      { role: "assistant", text: "Before **indeed**." },
    ],
    rename: async () => {},
    exportTo: async (file) => `/project/${file || "chat.md"}`,
    clear: async () => {},
    ...more,
  };
}

/** A turn that says something, word by word. */
export async function* answer(text: string): AsyncGenerator<AgentEvent> {
  yield told({ type: "agent-start", prompt: "", session: "one" });
  yield told({ type: "llm-start", step: 1, model: "scripted" });
  for (const word of text.match(/\S+\s*|\s+/g) ?? []) yield told({ type: "llm-text", step: 1, text: word });
  yield told({ type: "llm-end", step: 1, text, usage: USAGE, finish: "stop" });
  yield told({ type: "agent-end", outcome: "answered", text, usage: USAGE, steps: 1 });
}

/** The last events of a cancelled turn. */
export function cancelled(): AgentEvent {
  return told({ type: "agent-end", outcome: "cancelled", text: "", usage: USAGE, steps: 1 });
}
