import type { TokenUse } from "../agent/agent-event.ts";
import type { Fact } from "./chat-agent.ts";
import type { ContextReport } from "./context-report.ts";

export type ToolStatus = "running" | "asking" | "ok" | "failed" | "cancelled";

export interface ToolBlock {
  readonly kind: "tool";
  readonly callId: string;
  readonly tool: string;
  /** The arguments on one line. */
  readonly args: string;
  readonly status: ToolStatus;
  readonly ms?: number;
  readonly text?: string;
  readonly diff?: string;
}

/** One thing on the screen, from top to bottom. All texts are clean. */
export type Block =
  | { readonly kind: "prompt"; readonly text: string }
  | {
      readonly kind: "answer";
      readonly text: string;
      readonly open: boolean;
      /** Whether it goes on from the block above it. */
      readonly continued: boolean;
    }
  | ToolBlock
  | { readonly kind: "notice"; readonly text: string }
  | { readonly kind: "problem"; readonly code: string; readonly message: string; readonly next: string }
  | { readonly kind: "facts"; readonly title: string; readonly facts: readonly Fact[] }
  | { readonly kind: "context"; readonly report: ContextReport };

export interface Permission {
  readonly callId: string;
  readonly scope: string;
  readonly action: string;
  readonly reason: string;
}

/** What the screen shows. */
export interface ChatState {
  /** Which conversation of this chat: what was printed belongs to one. */
  readonly conversation: number;
  /** Finished: never changes again, so it is printed once. */
  readonly done: readonly Block[];
  /** Still changing, or below something that is. */
  readonly live: readonly Block[];
  readonly phase: "idle" | "running" | "cancelling";
  /** Who waits for an answer; the first is asked. */
  readonly permissions: readonly Permission[];
  readonly usage: TokenUse;
  /** The input of the last request: what is in the model's context. */
  readonly lastInput: number;
  /** The last tool call that has a result, for unfolding. */
  readonly lastTool?: ToolBlock;
  /** Whether the next Ctrl-C leaves. */
  readonly leaving: boolean;
}

export const NEW_CHAT: ChatState = {
  conversation: 0,
  done: [],
  live: [],
  phase: "idle",
  permissions: [],
  usage: { input: 0, output: 0, cached: 0 },
  lastInput: 0,
  leaving: false,
};
