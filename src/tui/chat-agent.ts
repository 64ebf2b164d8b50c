import type { AgentEvent } from "../agent/agent-event.ts";
import type { PermissionAnswer } from "../agent/permissions/permissions.ts";
import type { ContextReport } from "./context-report.ts";

export type { PermissionAnswer };

/** One line of a list: a name and its description. */
export interface Fact {
  readonly name: string;
  readonly text: string;
}

/** The lists that a chat can show. */
export type Topic = "tools" | "skills" | "models" | "permissions" | "telemetry" | "sessions";

/** A message of a resumed conversation. */
export interface PastMessage {
  readonly role: "user" | "assistant";
  readonly text: string;
}

export interface RunOptions {
  readonly signal: AbortSignal;
}

/** The agent as the chat uses it: prompts and answers go in, events come out. */
export interface ChatAgent {
  /** The name of the model in use. */
  model(): string;
  /** Runs one turn of the conversation. */
  run(prompt: string, options: RunOptions): AsyncIterable<AgentEvent>;
  /** Runs a command for the person as a tool call, with the same permissions as the model's calls. */
  shell(command: string, options: RunOptions): AsyncIterable<AgentEvent>;
  /** Reads a mentioned file as a tool call, with the same permissions. The call's text is the content. */
  read(path: string, options: RunOptions): AsyncIterable<AgentEvent>;
  answerPermission(callId: string, answer: PermissionAnswer): void;
  /** The tokens in the model's context, by cause. */
  context(): Promise<ContextReport>;
  list(topic: Topic): Promise<readonly Fact[]>;
  setModel(name: string): Promise<void>;
  /** Resumes a session, by default the last one, and returns its messages. */
  resume(session?: string): Promise<readonly PastMessage[]>;
  /** Starts a new conversation. */
  clear(): Promise<void>;
}
