import type { ApprovalCard, ApprovalDecision } from "../../gateway/approvals.ts";
import type { AgentEvent, PromptFile, UserMessage } from "../loop/agent-event.ts";
import type { PermissionMode } from "../permissions/permission.ts";
import type { PermissionAnswer } from "../permissions/permissions.ts";

export type { PermissionAnswer, PermissionMode, PromptFile, UserMessage };

/** An answer to a question of the chat: about a permission, or about a card. */
export type ChatAnswer = PermissionAnswer | ApprovalDecision;

/** One line of a list: a name and its description. */
export interface Fact {
  readonly name: string;
  readonly text: string;
}

/** One line of a list to pick from. */
export interface Choice extends Fact {
  readonly id: string;
}

/** The lists that a chat can show. */
export type Topic = "tools" | "skills" | "agents" | "permissions" | "telemetry" | "cost";

/** The lists that a chat can pick from. */
export type PickTopic = "models" | "sessions" | "messages" | "rewind" | "notes";

/** A message of a resumed conversation. */
export interface PastMessage {
  readonly role: "user" | "assistant";
  readonly text: string;
}

/** An image for a prompt, with a line about it. */
export interface ChatImage extends PromptFile {
  readonly about: string;
}

export interface ChatRunOptions {
  readonly signal: AbortSignal;
  /** Images that go with the prompt. */
  readonly files?: readonly PromptFile[];
  /** Returns messages that the person has sent since the run began. */
  readonly steer?: () => Promise<readonly UserMessage[]>;
}

/** The line below the input. */
export interface ChatStatus {
  readonly mode: PermissionMode;
  readonly model: string;
  /** How much the model thinks; absent if the provider decides. */
  readonly thinking?: string | undefined;
  /** Tokens of the last request. */
  readonly tokens: number;
  /** Tokens that the model can take. */
  readonly window: number;
  /** US dollars of the conversation so far; absent if no price is known. */
  readonly cost?: number;
}

/** A conversation, or its files, as they were before a message. */
export interface Rewound {
  readonly past?: readonly PastMessage[];
  readonly prompt: string;
  readonly lines: readonly string[];
}

/** A command of the person, of the project or of a server. */
export interface CustomCommand {
  readonly name: string;
  readonly summary: string;
}

/** A question for a line of text. Its texts may come from a server. */
export interface TextQuestion {
  readonly title: string;
  readonly about?: string;
  /** The answer is never shown. */
  readonly isSecret?: boolean;
  /** Suggests answers that begin with a text. */
  complete?(typed: string, signal: AbortSignal): Promise<readonly string[]>;
}

/** Undefined if the person leaves it open, or nobody is there. */
export type AskText = (question: TextQuestion) => Promise<string | undefined>;

/** A message of a server's prompt, with the role that the server gives it. */
export interface PromptMessage extends UserMessage {
  readonly role: "user" | "assistant";
}

/** The agent as the chat uses it: prompts and answers go in, events come out. */
export interface ChatAgent {
  status(): ChatStatus;
  setMode(mode: PermissionMode): void;
  /** Runs one turn of the conversation. */
  run(prompt: string, options: ChatRunOptions): AsyncIterable<AgentEvent>;
  /** Runs a command that the person typed as a tool call, without asking. The model gets its output with the next prompt. */
  shell(command: string, options: ChatRunOptions): AsyncIterable<AgentEvent>;
  /** Reads a mentioned file as a tool call, with the same permissions. The call's text is the content. */
  read(path: string, options: ChatRunOptions): AsyncIterable<AgentEvent>;
  /** A mentioned image, if the path is one. */
  image(path: string): Promise<ChatImage | undefined>;
  /** The clipboard as text for the draft: an image is kept as a file and mentioned. Undefined if it is empty. */
  clipboard(): Promise<string | undefined>;
  answerPermission(callId: string, answer: ChatAnswer): void;
  /** The card of a question about servers; undefined for other questions. */
  cardOf(callId: string): ApprovalCard | undefined;
  /** The tokens of the next request, by cause. */
  context(): Promise<ContextReport>;
  /** Summarizes the conversation now. */
  compact(focus: string, options: ChatRunOptions): AsyncIterable<AgentEvent>;
  list(topic: Topic): Promise<readonly Fact[]>;
  /** Lines to pick from, the most likely first. `about` is the message to go back to, or the note. */
  choices(topic: PickTopic, about?: string): Promise<readonly Choice[]>;
  /** Changes the model, by its name or by `provider/name`. Asks for the key of a provider that has none. */
  setModel(name: string, ask: AskText): Promise<void>;
  /** Changes how much the model thinks before it answers; `default` leaves it to the provider. */
  setThinking(level: string): void;
  /** Resumes a session, by default the last one, and returns its messages. */
  resume(session?: string): Promise<readonly PastMessage[]>;
  /**
   * Goes back to before an earlier message, with the `conversation`, the `files` or `both`. Returns the messages that
   * stay, if the conversation went back, the message, and a line for each file.
   */
  rewind(message: string, what: string): Promise<Rewound>;
  /** Adds a note to one of the files of `choices("notes")`. Returns a sentence about it. */
  addNote(file: string, note: string): Promise<string>;
  /** Undoes the changes of files that the last turn made. Returns a line for each. */
  undo(): Promise<readonly string[]>;
  /** Asks whether the folder is trusted; after a yes, its files are in use. */
  trust(options: ChatRunOptions): AsyncIterable<AgentEvent>;
  /** Shows MCP servers, or does to one what the words say: log in, refresh. */
  mcp(words: readonly string[]): Promise<readonly Fact[]>;
  /** Asks whether servers may start and which of their tools may be used, and records the answers. */
  decideServer(words: readonly string[], options: ChatRunOptions): AsyncIterable<AgentEvent>;
  /** Sentences about servers that wait or broke, which the person has not seen. */
  news(): Promise<readonly string[]>;
  /** Commands beside the chat's own. */
  commands(): readonly CustomCommand[];
  /**
   * The prompt of such a command; the messages of a server's prompt. Asks for arguments that are missing.
   * @throws INVALID_INPUT with the argument that nobody gave
   */
  expand(command: string, argument: string, ask?: AskText): Promise<string | readonly PromptMessage[]>;
  /** Adds messages to the conversation, without asking the model. */
  say(messages: readonly PromptMessage[]): void;
  /** Gives the conversation a title for the list of `/resume`. */
  rename(title: string): Promise<void>;
  /** Writes the conversation as Markdown into a new file, and returns its path. */
  exportTo(file: string): Promise<string>;
  /** Starts a new conversation. */
  clear(): Promise<void>;
}

/** Tokens of the next request, by cause. They add up to the total. */
export interface ContextReport {
  readonly parts: readonly { readonly name: string; readonly tokens: number }[];
  readonly total: number;
  /** Tokens that the model can take. */
  readonly window: number;
  /** Whether the window is assumed, because nobody has set that of the model. */
  readonly assumed: boolean;
  /** The cost of listing every tool in each request. */
  readonly everything: number;
}

export interface ChatOptions {
  /** Whether a mentioned path is a file. */
  isFile(path: string): Promise<boolean>;
  /** The messages of a resumed conversation. */
  readonly past?: readonly PastMessage[];
  /** Lines sent in earlier chats, oldest first. */
  readonly history?: readonly string[];
  /** Keeps a line that was sent. */
  onSent?(line: string): void;
}
