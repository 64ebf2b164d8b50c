import { reasonOf } from "../../base/util/reason-of.ts";
import { newSpan } from "../../core/telemetry/trace-context.ts";
import type { Gateway } from "../../gateway/gateway-api.ts";
import type { AgentEvent } from "../loop/agent-event.ts";
import { type Ask, approveIn, EventQueue, runContext, type Untraced } from "../loop/run-context.ts";
import type { PermissionAnswer } from "../tui/chat-agent.ts";

/** Questions to the person in the chat: those of tools, and those of the chat itself, which look the same. */
export interface ChatQuestions {
  /** Yields the question and its answer as events. Returns whether the person agreed. */
  ask(scope: ChatScope, action: string, signal: AbortSignal): AsyncGenerator<AgentEvent, boolean>;
  /** The answer to a question that the screen shows already. Aborting denies it. */
  wait(callId: string, signal: AbortSignal): Promise<PermissionAnswer>;
  answer(callId: string, answer: PermissionAnswer): void;
}

/** The subject of such a question: trust in the folder, the definitions of a server, or its start. */
export type ChatScope = "folder" | "definitions" | "server";

export function createChatQuestions(): ChatQuestions {
  const waiting = new Map<string, (answer: PermissionAnswer) => void>();
  let asked = 0;

  function wait(callId: string, signal: AbortSignal): Promise<PermissionAnswer> {
    const { promise, resolve } = Promise.withResolvers<PermissionAnswer>();
    waiting.set(callId, resolve);
    signal.addEventListener("abort", () => resolve("deny"), { once: true });
    if (signal.aborted) resolve("deny");
    return promise.finally(() => waiting.delete(callId));
  }

  return {
    wait,
    ask: async function* (scope, action, signal) {
      asked += 1;
      const about = { callId: `question-${asked}`, span: newSpan() };
      const answer = wait(about.callId, signal);
      yield { type: "permission-request", scope, action, reason: "", always: [], ...about };
      const agreed = (await answer) === "once";
      yield { type: "permission-answer", answer: agreed ? "once" : "deny", ...about };
      return agreed;
    },
    answer: (callId, answer) => waiting.get(callId)?.(answer),
  };
}

export function noticeOf(text: string): AgentEvent {
  return { type: "notice", text, span: newSpan() };
}

export interface PersonCall {
  readonly callId: string;
  readonly tool: "shell" | "read";
  readonly args: Readonly<Record<string, unknown>>;
}

/** Runs a tool for the person, outside of a run, with the same permissions as the model's calls. */
export async function* runPersonCall(
  { callId, tool, args }: PersonCall,
  { gateway, ask, signal }: { readonly gateway: Gateway; readonly ask: Ask; readonly signal: AbortSignal },
): AsyncGenerator<AgentEvent> {
  const queue = new EventQueue<AgentEvent>();
  const span = newSpan();
  const emit = (event: Untraced) => queue.push({ ...event, span } as AgentEvent);
  const call = { callId, span };
  const context = { emit, ask, signal, calls: new Map([[callId, span]]), call };
  async function play(): Promise<void> {
    const started = performance.now();
    emit({ type: "tool-start", callId, tool, args });
    const approve = approveIn(context, call);
    const { ok, text } = await gateway.exec({ op: `workspace.${tool}`, args }, { signal, approve }).then(
      (answer) => ({ ok: answer.ok, text: answer.ok ? resultText(answer.result) : answer.text }),
      (error: unknown) => ({ ok: false, text: reasonOf(error) }),
    );
    emit({ type: "tool-end", callId, tool, ok, text, ms: performance.now() - started });
  }
  const ended = runContext.run(context, play).finally(queue.close);
  yield* queue.values();
  await ended;
}

/** The readable part of a result: the output of a command or the content of a file. */
function resultText(result: unknown): string {
  if (typeof result === "string") return result;
  const { output, text, stdout, content } = (result ?? {}) as Record<string, unknown>;
  const found = [output, text, stdout, content].find((each) => typeof each === "string");
  return typeof found === "string" ? found : JSON.stringify(result ?? null, null, 2);
}
