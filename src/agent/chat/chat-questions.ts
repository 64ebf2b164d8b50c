import { reasonOf } from "../../base/util/reason-of.ts";
import { newSpan } from "../../core/telemetry/events.ts";
import type { ApprovalCard, ApprovalDecision } from "../../gateway/approvals.ts";
import type { Gateway } from "../../gateway/gateway-api.ts";
import type { AgentEvent } from "../loop/agent-event.ts";
import { type Ask, approveIn, EventQueue, runContext, type Untraced } from "../loop/run-context.ts";
import type { ChatAnswer, PermissionAnswer } from "../tui/chat-agent.ts";

/** Questions to the person in the chat: those of tools, and those of the chat itself, which look the same. */
export interface ChatQuestions {
  /** Yields the question and its answer as events. Returns the answer: `session` is the wider yes. */
  ask(
    scope: "folder" | "plan",
    action: string,
    signal: AbortSignal,
  ): AsyncGenerator<AgentEvent, "once" | "session" | "deny">;
  /** Shows a card. Returns the decision; undefined if the person leaves it for later. */
  askCard(card: ApprovalCard, signal: AbortSignal): AsyncGenerator<AgentEvent, ApprovalDecision | undefined>;
  /** The card of a question that the screen shows. */
  cardOf(callId: string): ApprovalCard | undefined;
  /** The answer to a question that the screen shows already. Aborting denies it. */
  wait(callId: string, signal: AbortSignal): Promise<PermissionAnswer>;
  answer(callId: string, answer: ChatAnswer): void;
}

export function createChatQuestions(): ChatQuestions {
  const waiting = new Map<string, (answer: ChatAnswer) => void>();
  const cards = new Map<string, ApprovalCard>();
  let asked = 0;

  function waitForAnswer(callId: string, signal: AbortSignal): Promise<ChatAnswer> {
    const { promise, resolve } = Promise.withResolvers<ChatAnswer>();
    waiting.set(callId, resolve);
    signal.addEventListener("abort", () => resolve("deny"), { once: true });
    if (signal.aborted) resolve("deny");
    return promise.finally(() => waiting.delete(callId));
  }

  /** A decision about a card is no answer to the question of a tool. */
  async function wait(callId: string, signal: AbortSignal): Promise<PermissionAnswer> {
    const answer = await waitForAnswer(callId, signal);
    return isDecision(answer) ? "deny" : answer;
  }

  async function* put(
    scope: string,
    action: string,
    signal: AbortSignal,
    card?: ApprovalCard,
  ): AsyncGenerator<AgentEvent, ChatAnswer> {
    asked += 1;
    const about = { callId: `question-${asked}`, span: newSpan() };
    const answered = waitForAnswer(about.callId, signal);
    if (card) cards.set(about.callId, card);
    yield { type: "permission-request", scope, action, reason: "", always: [], ...about };
    const answer = await answered;
    cards.delete(about.callId);
    const isYes = answer === "once" || answer === "session" || isDecision(answer);
    yield { type: "permission-answer", answer: isYes ? "once" : "deny", ...about };
    return answer;
  }

  return {
    wait,
    ask: async function* (scope, action, signal) {
      const answer = yield* put(scope, action, signal);
      return answer === "once" || answer === "session" ? answer : "deny";
    },
    askCard: async function* (card, signal) {
      const answer = yield* put("approval", card.title, signal, card);
      return isDecision(answer) ? answer : undefined;
    },
    cardOf: (callId) => cards.get(callId),
    answer: (callId, answer) => waiting.get(callId)?.(answer),
  };
}

function isDecision(answer: ChatAnswer): answer is ApprovalDecision {
  return typeof answer === "object" && "approve" in answer;
}

export function noticeOf(text: string): AgentEvent {
  return { type: "notice", text, span: newSpan() };
}

export interface PersonCall {
  readonly callId: string;
  readonly tool: "shell" | "read";
  readonly args: Readonly<Record<string, unknown>>;
}

/** Runs a tool for the person, outside of a run. Without `ask` the call itself is the person's yes. */
export async function* runPersonCall(
  { callId, tool, args }: PersonCall,
  {
    gateway,
    ask,
    signal,
  }: { readonly gateway: Gateway; readonly ask?: Ask | undefined; readonly signal: AbortSignal },
): AsyncGenerator<AgentEvent> {
  const queue = new EventQueue<AgentEvent>();
  const span = newSpan();
  const emit = (event: Untraced) => queue.push({ ...event, span } as AgentEvent);
  const call = { callId, span };
  const calls = new Map([[callId, span]]);
  const context = { emit, signal, calls, hooked: new Map(), progress: new Map(), call };
  async function play(): Promise<void> {
    const started = performance.now();
    emit({ type: "tool-start", callId, tool, args });
    const approve = ask ? approveIn({ ...context, ask }, call) : async () => ({ by: "person" });
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
