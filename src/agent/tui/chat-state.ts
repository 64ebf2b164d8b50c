import type { AgentEvent } from "../loop/agent-event.ts";
import type { ChatStatus, Choice, ContextReport, Fact, PickTopic, TextQuestion } from "./chat-agent.ts";

export type ToolStatus = "running" | "asking" | "ok" | "failed" | "cancelled";

export interface ToolBlock {
  readonly kind: "tool";
  readonly callId: string;
  readonly tool: string;
  /** The arguments on one line. */
  readonly args: string;
  /** The end of the output of a running command. */
  readonly live?: string;
  readonly status: ToolStatus;
  readonly ms?: number;
  readonly text?: string;
  readonly diff?: string;
}

/** A block of the screen. Its texts contain no escape sequences. */
export type ChatBlock =
  | { readonly kind: "prompt"; readonly text: string }
  | { readonly kind: "answer" | "thinking"; readonly text: string; readonly open: boolean }
  | ToolBlock
  | { readonly kind: "notice"; readonly text: string }
  | { readonly kind: "problem"; readonly code: string; readonly message: string; readonly next: string }
  | { readonly kind: "facts"; readonly facts: readonly Fact[] }
  | { readonly kind: "context"; readonly report: ContextReport };

export type Permission = Omit<Extract<AgentEvent, { type: "permission-request" }>, "type" | "span"> & {
  /** Counts the questions of a chat: a call may ask more than one. */
  readonly number: number;
};

/** A message that waits for the model. */
export interface QueuedMessage {
  readonly text: string;
  /** The message as the draft showed it. */
  readonly shown: string;
  /** It reaches the model before its next request, or after the run. */
  readonly when: "step" | "end";
}

/** A list that the person picks from. */
export interface Picker {
  readonly kind: PickTopic | "history" | "thinking" | "modes";
  readonly title: string;
  readonly choices: readonly Choice[];
  /** A digit picks too. */
  readonly numbered?: true | undefined;
  /** The subject of the list: the message to go back to, or the note. */
  readonly about?: string;
}

/** The state that the screen shows. */
export interface ChatState {
  /** Counts the conversations of this chat; printed blocks belong to one. */
  readonly conversation: number;
  /** Finished blocks, which are printed once. */
  readonly done: readonly ChatBlock[];
  /** Blocks that still change, or stand below one that does. */
  readonly live: readonly ChatBlock[];
  readonly phase: "idle" | "running" | "cancelling";
  /** Questions that wait for an answer; the first is shown. */
  readonly permissions: readonly Permission[];
  /** Messages sent during a run, oldest first. */
  readonly queue: readonly QueuedMessage[];
  /** The number of questions so far. */
  readonly asked: number;
  /** The model's output in this turn: tokens that the provider has counted, characters since. */
  readonly received: { readonly tokens: number; readonly chars: number };
  /** The last finished tool call, for unfolding. */
  readonly lastTool?: ToolBlock;
  /** The model's last thinking, for unfolding. */
  readonly lastThinking?: string;
  readonly status: ChatStatus;
  readonly picker?: Picker | undefined;
  /** A question for a line of text, which takes every key. */
  readonly question?: TextQuestion | undefined;
  /** Whether the next Ctrl-C leaves the chat. */
  readonly leaving: boolean;
}

export const NEW_CHAT: ChatState = {
  conversation: 0,
  done: [],
  live: [],
  phase: "idle",
  permissions: [],
  queue: [],
  asked: 0,
  received: { tokens: 0, chars: 0 },
  status: { mode: "ask", model: "", tokens: 0, window: 0 },
  leaving: false,
};
