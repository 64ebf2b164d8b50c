import type { AgentEvent } from "../agent/agent-event.ts";
import type { ContextReport } from "./context-report.ts";

export type PermissionAnswer = Extract<AgentEvent, { type: "permission-answer" }>["answer"];

/** One line of a list: a name and what there is to say of it. */
export interface Fact {
  readonly name: string;
  readonly text: string;
}

/** What can be listed in a chat. */
export type Topic = "tools" | "skills" | "models" | "permissions" | "telemetry" | "sessions";

/** A message of a conversation that goes on. */
export interface PastMessage {
  readonly role: "user" | "assistant";
  readonly text: string;
}

export interface RunOptions {
  readonly signal: AbortSignal;
}

/** All that a chat needs of an agent. Events come out of it; prompts, answers and wishes go in. */
export interface ChatAgent {
  /** The name of the model that answers. */
  model(): string;
  /** One turn of the conversation. */
  run(prompt: string, options: RunOptions): AsyncIterable<AgentEvent>;
  /** Runs a command for the person, under the same permissions as the model's: a tool call of its own. */
  shell(command: string, options: RunOptions): AsyncIterable<AgentEvent>;
  /** Reads a file that a prompt mentions, under the same permissions: a tool call whose text is the content. */
  read(path: string, options: RunOptions): AsyncIterable<AgentEvent>;
  answerPermission(callId: string, answer: PermissionAnswer): void;
  /** What is in the model's context, by cause. */
  context(): Promise<ContextReport>;
  list(topic: Topic): Promise<readonly Fact[]>;
  setModel(name: string): Promise<void>;
  /** Goes on with a session; without a name, with the last one. The answer is what was said in it. */
  resume(session?: string): Promise<readonly PastMessage[]>;
  /** Begins a new conversation. */
  clear(): Promise<void>;
}
