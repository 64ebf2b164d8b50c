import type { AgentEvent } from "../agent/agent-event.ts";
import type { Ask } from "../agent/ask-request.ts";
import { createEventQueue } from "../agent/event-queue.ts";
import { runContext, type Untraced } from "../agent/run-context.ts";
import type { Gateway } from "../gateway-api.ts";
import { newSpan } from "../telemetry/trace-context.ts";
import { reasonOf } from "../util/reason-of.ts";

/** A call that a person makes in the chat. */
export interface OwnCall {
  readonly callId: string;
  readonly tool: "shell" | "read";
  readonly args: Readonly<Record<string, unknown>>;
}

/** Runs a tool for the person, outside of a run, with the same permissions as the model's calls. */
export async function* runOwnCall(
  { callId, tool, args }: OwnCall,
  { gateway, ask, signal }: { readonly gateway: Gateway; readonly ask: Ask; readonly signal: AbortSignal },
): AsyncGenerator<AgentEvent> {
  const queue = createEventQueue<AgentEvent>();
  const span = newSpan();
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

/** The readable part of a result: the output of a command or the content of a file. */
function resultText(result: unknown): string {
  if (typeof result === "string") return result;
  const { output, text, stdout, content } = (result ?? {}) as Record<string, unknown>;
  const found = [output, text, stdout, content].find((each) => typeof each === "string");
  return typeof found === "string" ? found : JSON.stringify(result ?? null, null, 2);
}
