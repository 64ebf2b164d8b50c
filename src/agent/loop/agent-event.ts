import type { LanguageModelUsage, ModelMessage } from "ai";
import type { SpanContext } from "../../core/nouns/span-context.ts";
import type { FinishReason } from "../models/model-answer.ts";

export type { SpanContext };

export interface TokenUse {
  readonly input: number;
  readonly output: number;
  /** The part of the input that the provider had cached. */
  readonly cached: number;
  /** The part of the input that the provider has put into its cache, if it tells. */
  readonly cacheWritten?: number;
}

export const NO_TOKENS: TokenUse = { input: 0, output: 0, cached: 0 };

export type AgentOutcome =
  | "answered"
  | "cut-off"
  | "filtered"
  | "cancelled"
  | "step-limit"
  | "token-limit"
  | "repeating"
  | "failed";

/** The events of a run, in order. Terminal, JSON output and telemetry all read this stream. */
export type AgentEvent = { readonly span: SpanContext } & (
  | {
      readonly type: "agent-start";
      readonly prompt: string;
      readonly session: string;
      /** Names of the skills whose instructions the model got. */
      readonly skills?: readonly string[];
    }
  /** A message of the person that reached the model during the run. */
  | { readonly type: "user-message"; readonly text: string }
  | {
      readonly type: "llm-start";
      readonly step: number;
      readonly model: string;
      /** The request's messages, for readers in the same process; never printed. */
      readonly messages?: readonly ModelMessage[];
      readonly temperature?: number;
      /** Most tokens of the answer. */
      readonly maxTokens?: number;
    }
  | { readonly type: "llm-text"; readonly step: number; readonly text: string }
  /** The model's thinking, as it arrives. */
  | { readonly type: "llm-thinking"; readonly step: number; readonly text: string }
  | {
      /**
       * The conversation became shorter: a summary of the model stands for its older part, or an index if the model
       * wrote none; or, as a first measure, handles stand for the large results of older turns.
       */
      readonly type: "context-compacted";
      readonly by: "model" | "index" | "handles";
      /** How many messages the summary stands for, or how many results the handles. */
      readonly replaced: number;
      /** Tokens of the messages before and after. */
      readonly before: number;
      readonly after: number;
      /** Why the model wrote no summary. */
      readonly failure?: string;
    }
  | {
      readonly type: "llm-retry";
      readonly attempt: number;
      readonly delayMs: number;
      readonly reason: string;
    }
  | {
      readonly type: "llm-end";
      readonly step: number;
      readonly text: string;
      readonly usage: TokenUse;
      readonly finish: FinishReason;
      /** The model that answered, as the provider names it. */
      readonly model?: string;
      /** The tools that the model calls next. */
      readonly calls?: readonly { readonly callId: string; readonly tool: string; readonly args: unknown }[];
    }
  | {
      /** A request beside the conversation. Its tokens are billed too, and are not part of its context. */
      readonly type: "llm-aside";
      readonly by: "sub-agent" | "summary";
      readonly usage: TokenUse;
      /** The model that answered, as the provider names it. */
      readonly model?: string;
    }
  /** Output of a running command, as it arrives. */
  | { readonly type: "tool-output"; readonly callId: string; readonly text: string }
  | { readonly type: "tool-start"; readonly callId: string; readonly tool: string; readonly args: unknown }
  | {
      readonly type: "permission-request";
      readonly callId: string;
      /** `fs-read`, `fs-write`, `fs-delete`, `shell-run`, `web`, or `tool` for a call that needs approval. */
      readonly scope: string;
      /** The exact action, with invisible characters made visible. */
      readonly action: string;
      readonly reason: string;
      /** The change of a file as a unified diff, whole. */
      readonly diff?: string;
      /** The rules that the answer `always` saves; without any, `always` counts as `session`. */
      readonly always: readonly string[];
      /** Wider rules, for a person who writes the rules themselves. */
      readonly wider?: readonly string[];
      /** The place that saves them. */
      readonly keptIn?: string;
    }
  | {
      readonly type: "permission-answer";
      readonly callId: string;
      readonly answer: "once" | "session" | "always" | "deny";
      /** Why the person denies it, or what to do instead. */
      readonly instead?: string;
    }
  | {
      readonly type: "tool-end";
      readonly callId: string;
      readonly tool: string;
      readonly ok: boolean;
      /** The result as the model reads it. */
      readonly text: string;
      readonly ms: number;
      /** The code of the failure. */
      readonly error?: string;
      /** A unified diff, if a file was changed. */
      readonly diff?: string;
      /** Images and other files of the result, for readers in the same process; never printed. */
      readonly files?: readonly PromptFile[];
    }
  | { readonly type: "notice"; readonly text: string }
  | {
      readonly type: "agent-end";
      readonly outcome: AgentOutcome;
      readonly text: string;
      readonly usage: TokenUse;
      readonly steps: number;
      /** The structured output, if a schema was given. */
      readonly output?: unknown;
      /** The code, message and next step of a failed run. */
      readonly error?: { readonly code: string; readonly message: string; readonly next: string };
    }
);

/** A message of the person. */
export interface UserMessage {
  readonly prompt: string;
  /** The message as the person typed it, for events. Default: the prompt. */
  readonly typed?: string;
  /** Images that go with it. */
  readonly files?: readonly PromptFile[];
}

/** A file that goes with a prompt. */
export interface PromptFile {
  /** Such as `image/png`. */
  readonly mediaType: string;
  /** Base64. */
  readonly data: string;
}

/** The event without the parts for readers in the same process. */
export function toPrintable(event: AgentEvent): AgentEvent {
  const { messages: _, calls: __, files: ___, ...printable } = event as AgentEvent & Record<string, unknown>;
  return printable as AgentEvent;
}

/** The tokens of a request, as the provider has counted them. */
export function toTokenUse({
  inputTokens = 0,
  outputTokens = 0,
  inputTokenDetails,
}: LanguageModelUsage): TokenUse {
  const cacheWritten = inputTokenDetails?.cacheWriteTokens ?? 0;
  return {
    input: inputTokens,
    output: outputTokens,
    cached: inputTokenDetails?.cacheReadTokens ?? 0,
    ...(cacheWritten > 0 && { cacheWritten }),
  };
}

export function plus(one: TokenUse, other: TokenUse): TokenUse {
  const cacheWritten = (one.cacheWritten ?? 0) + (other.cacheWritten ?? 0);
  return {
    input: one.input + other.input,
    output: one.output + other.output,
    cached: one.cached + other.cached,
    ...(cacheWritten > 0 && { cacheWritten }),
  };
}
