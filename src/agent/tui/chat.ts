import { isProblem } from "../../base/problems/problem.ts";
import { toVisibleText } from "../../base/safety/visible-text.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import type { AgentEvent } from "../loop/agent-event.ts";
import { PERMISSION_MODES, type PermissionMode } from "../permissions/permission.ts";
import type {
  ChatAgent,
  ChatAnswer,
  ChatRunOptions,
  Choice,
  Fact,
  PastMessage,
  PromptFile,
  UserMessage,
} from "./chat-agent.ts";
import { type ChatBlock, type ChatState, NEW_CHAT, type Picker, type QueuedMessage } from "./chat-state.ts";
import { type ChatInput, COMMANDS, KEYS, parseChatInput, type SlashCommand } from "./commands.ts";
import { findMentions, type IncludedFile, withFiles } from "./mentions.ts";
import { type ChatEvent, reduce } from "./reduce.ts";

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

/** A conversation on a screen: its state, and the actions of the person. */
export class Chat {
  /** Resolves when the person leaves. */
  readonly left: Promise<void>;
  private readonly leave: () => void;
  private readonly agent: ChatAgent;
  private readonly options: ChatOptions;
  private readonly lines: string[];
  private readonly listeners = new Set<() => void>();
  private current: ChatState;
  private controller: AbortController | undefined;
  /** Text that arrived since the last drawing, and the timer that shows it. */
  private stream: { readonly event: StreamedEvent; readonly timer: NodeJS.Timeout } | undefined;
  private streamedAt = Number.NEGATIVE_INFINITY;

  constructor(agent: ChatAgent, options: ChatOptions) {
    const { past = [], history = [] } = options;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.left = promise;
    this.leave = resolve;
    this.agent = agent;
    this.options = options;
    this.lines = [...history];
    this.current = past.length === 0 ? NEW_CHAT : reduce(NEW_CHAT, { type: "resumed", messages: past });
    this.refresh();
  }

  /** Bound, because React calls it by itself. */
  readonly state = (): ChatState => this.current;

  /** Calls the listener after each change. Returns unsubscribe. */
  readonly subscribe = (listener: () => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** Lines sent before, oldest first. */
  get history(): readonly string[] {
    return this.lines;
  }

  commands(): ReturnType<ChatAgent["commands"]> {
    return this.agent.commands();
  }

  /**
   * Sends a line. Resolves when its work is done. While something runs, a message waits in the queue: for the next
   * request to the model, or for the end of the run. `shown` stands for it on the screen.
   */
  async submit(text: string, shown = text, when: QueuedMessage["when"] = "step"): Promise<void> {
    if (text.trim() !== "" && this.lines.at(-1) !== text) {
      this.lines.push(text);
      this.options.onSent?.(text);
    }
    const input = parseChatInput(text, this.agent.commands());
    if (this.current.phase !== "idle" && !isAtOnce(input)) {
      // Commands change the chat itself, so they wait for the end.
      const message = { text, shown, when: input.type === "prompt" ? when : "end" } as const;
      return this.setQueue([...this.current.queue, message]);
    }
    await this.perform(input, shown.trim());
    await this.sendNext();
  }

  /** Takes the message that was queued last out of the queue, or all of them. Returns them as the draft showed them. */
  takeBack(which: "last" | "all"): string | undefined {
    const { queue } = this.current;
    if (queue.length === 0) return undefined;
    const taken = which === "all" ? queue : queue.slice(-1);
    this.setQueue(queue.slice(0, queue.length - taken.length));
    return taken.map(({ shown }) => shown).join("\n");
  }

  /** Sends the first message that waits, if nothing runs. */
  private async sendNext(): Promise<void> {
    const [next, ...queue] = this.current.queue;
    if (!next || this.current.phase !== "idle") return;
    this.setQueue(queue);
    await this.perform(parseChatInput(next.text, this.agent.commands()), next.shown.trim());
    await this.sendNext();
  }

  private async perform(input: ChatInput, typed: string): Promise<void> {
    switch (input.type) {
      case "custom":
        return this.turn(typed, async (signal) =>
          this.ask(await this.agent.expand(input.name, input.argument), signal),
        );
      case "prompt":
        return this.turn(typed, (signal) => this.ask(input.text, signal));
      case "shell":
        return this.runShell(input.command, typed);
      case "command":
        return this.runCommand(input.command, input.argument.trim()).catch((error: unknown) =>
          this.showProblem(error),
        );
      case "unknown": {
        const hint = input.nearest.length > 0 ? ` Did you mean /${input.nearest[0]}?` : "";
        return this.notice(`Command /${input.name} not found.${hint} /help lists all.`);
      }
    }
  }

  /** Answers the first question. */
  answer(answer: ChatAnswer): void {
    const [first] = this.current.permissions;
    if (first) this.agent.answerPermission(first.callId, answer);
  }

  /** The card of the first question, if it is one about servers. */
  card(): ReturnType<ChatAgent["cardOf"]> {
    const [first] = this.current.permissions;
    return first && this.agent.cardOf(first.callId);
  }

  /** Ctrl-C: cancels the running work; a second one leaves. */
  interrupt(): void {
    if (this.current.phase === "running") {
      const waiting = this.current.permissions;
      this.cancelTurn();
      for (const { callId } of waiting) this.agent.answerPermission(callId, "deny");
      return;
    }
    if (this.current.phase === "cancelling" || this.current.leaving) this.leave();
    else this.dispatch({ type: "set", change: { leaving: true } });
  }

  /** Resets the first Ctrl-C, so that the next one does not leave. */
  stay(): void {
    if (this.current.leaving) this.dispatch({ type: "set", change: { leaving: false } });
  }

  /** Esc: cancels the running work, and nothing else. */
  cancel(): void {
    if (this.current.phase === "running" && this.current.permissions.length === 0) this.cancelTurn();
  }

  /** Goes on to the next mode. */
  nextMode(): void {
    const at = PERMISSION_MODES.indexOf(this.agent.status().mode);
    this.agent.setMode(PERMISSION_MODES[(at + 1) % PERMISSION_MODES.length]!);
    this.refresh();
  }

  /** Asks whether the folder is trusted. */
  askTrust(): Promise<void> {
    return this.play("", (how) => this.agent.trust(how));
  }

  /** The clipboard as text for the draft; undefined, with a notice, if nothing can be read. */
  async paste(): Promise<string | undefined> {
    const text = await this.agent.clipboard().catch(() => undefined);
    if (text === undefined) this.notice(NO_CLIPBOARD);
    return text;
  }

  /** Opens a list of earlier messages, or of lines sent before. */
  async open(kind: "messages" | "history"): Promise<void> {
    if (this.current.phase === "idle") await this.openPicker(kind);
  }

  /** Takes a choice of the open list. Returns the text that belongs into the draft, if any. */
  async pick({ id }: Choice): Promise<string | undefined> {
    const { picker } = this.current;
    this.setPicker(undefined);
    if (!picker) return undefined;
    return this.take(picker.kind, id).catch((error: unknown) => {
      this.showProblem(error);
      return undefined;
    });
  }

  closePicker(): void {
    this.setPicker(undefined);
  }

  /** Shows the last tool call, or the last thinking, whole. */
  unfold(block: "tool" | "thinking"): void {
    const { lastTool, lastThinking } = this.current;
    if (block === "thinking") this.notice(lastThinking ?? "The model has shown no thinking yet.");
    else if (!lastTool) this.notice("No tool has been called yet.");
    else this.notice(`${lastTool.tool} ${lastTool.args}\n${lastTool.text ?? ""}`.trimEnd());
  }

  /** The slash commands that do more than show a list, by name. */
  private readonly actions: Readonly<Record<string, (argument: string) => unknown>> = {
    help: () => this.show({ kind: "facts", facts: HELP }),
    context: async () => this.show({ kind: "context", report: await this.agent.context() }),
    compact: (focus) => this.play("/compact", (how) => this.agent.compact(focus, how)),
    undo: async () => {
      for (const line of await this.agent.undo()) this.notice(toVisibleText(line));
    },
    mode: (name) => this.setMode(name),
    trust: () => this.play("/trust", (how) => this.agent.trust(how)),
    mcp: async (argument) => {
      const words = argument.split(/\s+/).filter(Boolean);
      if (words[0] !== "approve" && words[0] !== "allow")
        return this.showFacts("mcp", await this.agent.mcp(words));
      return this.play(`/mcp ${words.join(" ")}`, (how) => this.agent.decideServer(words, how));
    },
    init: () => this.turn("/init", (signal) => this.ask(INIT_PROMPT, signal)),
    model: (name) => (name === "" ? this.openPicker("models") : this.setModel(name)),
    resume: (session) => (session === "" ? this.openPicker("sessions") : this.resume(session)),
    rename: async (title) => {
      await this.agent.rename(title);
      this.notice(toVisibleText(`The conversation is called ${title}.`));
    },
    export: async (file) => this.notice(toVisibleText(`Written to ${await this.agent.exportTo(file)}.`)),
    clear: async () => {
      await this.agent.clear();
      this.dispatch({ type: "cleared" });
      this.refresh();
    },
    exit: () => this.leave(),
  };

  private dispatch(event: ChatEvent): void {
    this.flush();
    this.apply(event);
  }

  /** Shows text as it arrives, at most 30 times a second: each drawing lays out the whole screen (bench: stream). */
  private dispatchStreamed(event: StreamedEvent): void {
    const waiting = this.stream;
    if (waiting && isSameStream(waiting.event, event)) {
      const merged = { ...event, text: waiting.event.text + event.text };
      this.stream = { ...waiting, event: merged };
      return;
    }
    this.flush();
    const waitMs = this.streamedAt + FRAME_MS - performance.now();
    this.stream = { event, timer: setTimeout(() => this.flush(), Math.max(0, waitMs)) };
    if (waitMs <= 0) this.flush();
  }

  private flush(): void {
    if (!this.stream) return;
    const { event, timer } = this.stream;
    clearTimeout(timer);
    this.stream = undefined;
    this.streamedAt = performance.now();
    this.apply(event);
  }

  private apply(event: ChatEvent): void {
    this.current = reduce(this.current, event);
    for (const listener of this.listeners) listener();
  }

  private show(block: ChatBlock): void {
    this.dispatch({ type: "show", block });
  }

  private notice(text: string): void {
    this.show({ kind: "notice", text });
  }

  private showProblem(error: unknown): void {
    this.show({ kind: "problem", ...toFailure(error) });
  }

  private setQueue(queue: ChatState["queue"]): void {
    this.dispatch({ type: "set", change: { queue } });
  }

  private refresh(): void {
    this.dispatch({ type: "set", change: { status: this.agent.status() } });
  }

  private setPicker(picker: Picker | undefined): void {
    this.dispatch({ type: "set", change: { picker } });
  }

  /** Runs one turn. The screen is idle afterwards, whatever happened. */
  private async turn(typed: string, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const abort = new AbortController();
    this.controller = abort;
    this.dispatch({ type: "turn-start", prompt: typed });
    try {
      await work(abort.signal);
      this.dispatch({ type: "turn-end" });
    } catch (error) {
      if (abort.signal.aborted) this.dispatch({ type: "turn-end" });
      else this.dispatch({ type: "turn-failed", ...toFailure(error) });
    }
    this.controller = undefined;
    this.refresh();
  }

  private cancelTurn(): void {
    this.dispatch({ type: "cancel" });
    this.controller?.abort();
  }

  /** Runs one turn that only shows events. */
  private play(typed: string, start: (options: ChatRunOptions) => AsyncIterable<AgentEvent>): Promise<void> {
    return this.turn(typed, async (signal) => void (await this.follow(start({ signal }))));
  }

  private async follow(events: AsyncIterable<AgentEvent>): Promise<AgentEvent | undefined> {
    let last: AgentEvent | undefined;
    for await (const event of events) {
      if (isStreamed(event)) this.dispatchStreamed(event);
      else this.dispatch(event);
      if (event.type === "llm-end" || event.type === "context-compacted") this.refresh();
      last = event;
    }
    return last;
  }

  /** Runs a command of the person: as a turn, or beside the one that runs. */
  private async runShell(command: string, typed: string): Promise<void> {
    if (!this.controller) return this.play(typed, (how) => this.agent.shell(command, how));
    this.show({ kind: "prompt", text: toVisibleText(typed) });
    const { signal } = this.controller;
    await this.follow(this.agent.shell(command, { signal })).catch((error: unknown) =>
      this.showProblem(error),
    );
  }

  private async ask(prompt: string, signal: AbortSignal): Promise<void> {
    const message = await this.include(prompt, signal);
    if (signal.aborted) return;
    const { files } = message;
    const steer = () => this.takeSteering(signal);
    await this.follow(this.agent.run(message.prompt, { signal, steer, ...(files && { files }) }));
  }

  /** The messages that wait for the model's next request, with the files that they mention. */
  private async takeSteering(signal: AbortSignal): Promise<UserMessage[]> {
    const messages: UserMessage[] = [];
    const isSteering = ({ when }: QueuedMessage) => when === "step";
    for (let next = this.current.queue.find(isSteering); next; next = this.current.queue.find(isSteering)) {
      const taken = next;
      this.setQueue(this.current.queue.filter((message) => message !== taken));
      const message = await this.include(taken.text.trim(), signal);
      messages.push({ ...message, typed: taken.shown.trim() });
    }
    return messages;
  }

  /** A prompt with the files that it mentions. */
  private async include(prompt: string, signal: AbortSignal): Promise<UserMessage> {
    const files: IncludedFile[] = [];
    const images: PromptFile[] = [];
    for (const path of findMentions(prompt)) {
      if (!(await this.options.isFile(path))) continue;
      const image = await this.agent.image(path);
      if (image) {
        images.push(image);
        this.notice(toVisibleText(`${path}: ${image.about}`));
        continue;
      }
      const last = await this.follow(this.agent.read(path, { signal }));
      if (signal.aborted) break;
      if (last?.type === "tool-end" && last.ok) files.push({ path, text: last.text });
    }
    return { prompt: withFiles(prompt, files), ...(images.length > 0 && { files: images }) };
  }

  private showFacts(name: string, facts: readonly Fact[]): void {
    if (facts.length === 0) this.notice(EMPTY[name] ?? `No ${name}.`);
    else this.show({ kind: "facts", facts: facts.map(cleanFact) });
  }

  private async openPicker(kind: Picker["kind"]): Promise<void> {
    const choices = kind === "history" ? sentLines(this.lines) : await this.agent.choices(kind);
    if (choices.length === 0) this.notice(EMPTY[kind] ?? `No ${kind}.`);
    else this.setPicker({ kind, title: PICKER_TITLES[kind], choices });
  }

  private async setModel(name: string): Promise<void> {
    await this.agent.setModel(name);
    this.refresh();
    this.notice(toVisibleText(`The model is ${this.agent.status().model}.`));
  }

  private setMode(name: string): void {
    const modes: readonly string[] = PERMISSION_MODES;
    if (name === "") this.nextMode();
    else if (!modes.includes(name)) this.notice(`Modes: ${modes.join(", ")}.`);
    else this.agent.setMode(name as PermissionMode);
    this.refresh();
  }

  private async resume(session: string): Promise<void> {
    this.dispatch({ type: "resumed", messages: await this.agent.resume(session) });
    this.notice("Resumed. Large results of the conversation are gone.");
  }

  /** Does the work of a picked line, and returns the text for the draft. */
  private async take(kind: Picker["kind"], id: string): Promise<string | undefined> {
    if (kind === "history") return this.lines[Number(id)];
    if (kind === "models") await this.setModel(id);
    if (kind === "sessions") await this.resume(id);
    if (kind !== "messages") return undefined;
    const { past: messages, prompt } = await this.agent.rewind(id);
    this.dispatch({ type: "resumed", messages });
    this.notice("Back before that message. Files stay as they are; /undo restores those of the last turn.");
    return prompt;
  }

  private async runCommand({ name, topic }: SlashCommand, argument: string): Promise<void> {
    if (topic) this.showFacts(name, await this.agent.list(topic));
    else await this.actions[name]?.(argument);
  }
}

/** Commands that change nothing a run depends on, beside those that show a list. */
const AT_ONCE: ReadonlySet<string> = new Set(["help", "context", "mode"]);

/** Whether a line has its effect at once, also during a run. */
function isAtOnce(input: ChatInput): boolean {
  if (input.type === "command") return input.command.topic !== undefined || AT_ONCE.has(input.command.name);
  return input.type === "shell" || input.type === "unknown" || input.type === "nothing";
}

const FRAME_MS = 1000 / 30;

type StreamedEvent = Extract<AgentEvent, { type: "llm-text" | "llm-thinking" | "tool-output" }>;

function isStreamed(event: AgentEvent): event is StreamedEvent {
  return event.type === "llm-text" || event.type === "llm-thinking" || event.type === "tool-output";
}

function isSameStream(one: StreamedEvent, other: StreamedEvent): boolean {
  if (one.type !== other.type) return false;
  return one.type !== "tool-output" || one.callId === (other as typeof one).callId;
}

const PICKER_TITLES: Readonly<Record<Picker["kind"], string>> = {
  models: "Model:",
  sessions: "Conversation:",
  messages: "Go back to before:",
  history: "Sent before:",
};

/** Sentences for lists that are empty. */
const EMPTY: Readonly<Record<string, string>> = {
  mcp: "No MCP servers. Outside of the chat, keyhole add adds one, and keyhole connect takes those of other clients over.",
  sessions: "No earlier conversation of this folder is kept.",
  messages: "Nothing was sent yet in this conversation.",
  history: "No line was sent yet.",
};

const NO_CLIPBOARD =
  "The clipboard has nothing that can be read here. Linux needs wl-clipboard or xclip; @path includes an image file.";

const INIT_PROMPT = `Look at this project: its manifest, its main folders, how it is built, tested and formatted, and the conventions that its code follows. Then write an AGENTS.md in its root (improve the one that is there): under 60 lines, only facts that an agent needs and cannot see at once: the commands, the layout, the rules. Check each command that you name against the project's files.`;

const HELP: readonly Fact[] = [
  ...COMMANDS.map(({ name, summary }) => ({ name: `/${name}`, text: summary })),
  ...KEYS.map(([name, text]) => ({ name, text })),
];

function sentLines(history: readonly string[]): Choice[] {
  return history.map((line, index) => ({ id: String(index), name: line, text: "" })).reverse();
}

function cleanFact({ name, text }: Fact): Fact {
  return { name: toVisibleText(name, 200), text: toVisibleText(text, 2_000) };
}

function toFailure(error: unknown): { code: string; message: string; next: string } {
  if (isProblem(error)) return { code: error.code, message: error.message, next: error.next };
  return { code: "UNKNOWN", message: reasonOf(error), next: "Try again; /help lists commands and keys." };
}
