import type { AgentEvent } from "../loop/agent-event.ts";

/** Passes text on as it arrives, at most 16 times a second: each drawing lays out the whole screen (bench: stream). */
export class StreamFrames {
  readonly #apply: (event: StreamedEvent) => void;
  /** Text that arrived since the last drawing, and the timer that shows it. */
  #waiting: { readonly event: StreamedEvent; readonly timer: NodeJS.Timeout } | undefined;
  #appliedAt = Number.NEGATIVE_INFINITY;

  constructor(apply: (event: StreamedEvent) => void) {
    this.#apply = apply;
  }

  push(event: StreamedEvent): void {
    const waiting = this.#waiting;
    if (waiting && isSameStream(waiting.event, event)) {
      this.#waiting = { ...waiting, event: { ...event, text: waiting.event.text + event.text } };
      return;
    }
    this.flush();
    const waitMs = this.#appliedAt + FRAME_MS - performance.now();
    this.#waiting = { event, timer: setTimeout(() => this.flush(), Math.max(0, waitMs)) };
    if (waitMs <= 0) this.flush();
  }

  /** Passes on what waits. Call it before any other event. */
  flush(): void {
    if (!this.#waiting) return;
    const { event, timer } = this.#waiting;
    clearTimeout(timer);
    this.#waiting = undefined;
    this.#appliedAt = performance.now();
    this.#apply(event);
  }
}

const FRAME_MS = 1000 / 16;

export type StreamedEvent = Extract<AgentEvent, { type: "llm-text" | "llm-thinking" | "tool-output" }>;

export function isStreamed(event: AgentEvent): event is StreamedEvent {
  return event.type === "llm-text" || event.type === "llm-thinking" || event.type === "tool-output";
}

function isSameStream(one: StreamedEvent, other: StreamedEvent): boolean {
  if (one.type !== other.type) return false;
  return one.type !== "tool-output" || one.callId === (other as typeof one).callId;
}
