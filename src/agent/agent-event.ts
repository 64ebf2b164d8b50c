import type { SpanContext } from "../schema/span-context.ts";

export type { SpanContext };

export interface TokenUse {
  readonly input: number;
  readonly output: number;
  /** Of the input, what the vendor had cached. */
  readonly cached: number;
}

/** Why a run ended. */
export type AgentOutcome = "answered" | "cancelled" | "step-limit" | "token-limit" | "repeating" | "failed";

/** Everything that a run of an agent tells, in order. Faces read it; nothing flows back but what they answer. */
export type AgentEvent = { readonly span: SpanContext } & (
  | { readonly type: "agent-start"; readonly prompt: string; readonly session: string }
  | {
      readonly type: "llm-start";
      readonly step: number;
      readonly model: string;
      /** What the model is asked with, for readers in the same process; no face prints it. */
      readonly messages?: readonly unknown[];
    }
  | { readonly type: "llm-text"; readonly step: number; readonly text: string }
  | {
      readonly type: "llm-retry";
      readonly attempt: number;
      readonly delayMs: number;
      readonly reason: string;
    }
  | { readonly type: "llm-end"; readonly step: number; readonly text: string; readonly usage: TokenUse }
  | { readonly type: "tool-start"; readonly callId: string; readonly tool: string; readonly args: unknown }
  | {
      readonly type: "permission-request";
      readonly callId: string;
      readonly scope: string;
      /** Exactly what will happen, with everything invisible made visible. */
      readonly action: string;
      readonly reason: string;
    }
  | {
      readonly type: "permission-answer";
      readonly callId: string;
      readonly answer: "once" | "session" | "always" | "deny";
    }
  | {
      readonly type: "tool-end";
      readonly callId: string;
      readonly tool: string;
      readonly ok: boolean;
      /** As the model reads it. */
      readonly text: string;
      readonly ms: number;
      /** A unified diff, where a file was changed. */
      readonly diff?: string;
    }
  | { readonly type: "notice"; readonly text: string }
  | {
      readonly type: "agent-end";
      readonly outcome: AgentOutcome;
      readonly text: string;
      readonly usage: TokenUse;
      readonly steps: number;
      /** The answer by the schema that was asked for. */
      readonly output?: unknown;
      /** The problem's code and sentence, where it failed. */
      readonly error?: { readonly code: string; readonly message: string; readonly next: string };
    }
);
