import { toVisibleText } from "../../base/safety/visible-text.ts";
import type { AgentEvent } from "../loop/agent-event.ts";
import { PERMISSION_MODES } from "../permissions/permission.ts";
import type {
  AskText,
  ChatAgent,
  ChatAnswer,
  ChatOptions,
  ChatRunOptions,
  Choice,
  Fact,
  PastMessage,
} from "./chat-agent.ts";
import { PICKS, type PickHost } from "./chat-picks.ts";
import { type ChatBlock, type ChatState, NEW_CHAT, type Picker, type QueuedMessage } from "./chat-state.ts";
import {
  type ChatInput,
  cleanFact,
  EMPTY,
  HELP,
  INIT_PROMPT,
  isAtOnce,
  NO_CLIPBOARD,
  parseChatInput,
  type SlashCommand,
  statusFacts,
  toFailure,
} from "./commands.ts";
import { createTextQuestions } from "./dialogue.ts";
import { type ChatEvent, reduce } from "./reduce.ts";
import { PromptSender } from "./send-prompt.ts";
import { isStreamed, StreamFrames } from "./stream-frames.ts";

/** A conversation on a screen: its state, and the actions of the person. */
export class Chat implements PickHost {
  /** Resolves when the person leaves. */
  readonly left: Promise<void>;
  private readonly leave: () => void;
  readonly agent: ChatAgent;
  private readonly options: ChatOptions;
  private readonly lines: string[];
  private readonly listeners = new Set<() => void>();
  private current: ChatState;
  private controller: AbortController | undefined;
  private readonly frames = new StreamFrames((event) => this.apply(event));
  private readonly questions = createTextQuestions((question) =>
    this.dispatch({ type: "set", change: { question } }),
  );
  private readonly prompts: PromptSender;

  constructor(agent: ChatAgent, options: ChatOptions) {
    const { past = [], history = [] } = options;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.left = promise;
    this.leave = resolve;
    this.agent = agent;
    this.options = options;
    this.prompts = new PromptSender({
      agent,
      options,
      queue: () => this.current.queue,
      setQueue: (queue) => this.setQueue(queue),
      follow: (events) => this.follow(events),
      show: (block) => this.show(block),
      askText: this.questions.ask,
    });
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

  /** Bound, because lists pass it on. */
  readonly askText: AskText = (question) => this.questions.ask(question);

  commands(): ReturnType<ChatAgent["commands"]> {
    return this.agent.commands();
  }

  /** Sends a line, which the screen shows as `shown`. While something runs, a message waits in the queue. */
  async submit(text: string, shown = text, when: QueuedMessage["when"] = "step"): Promise<void> {
    if (text.trim() !== "" && this.lines.at(-1) !== text) {
      this.lines.push(text);
      this.options.onSent?.(text);
    }
    const input = parseChatInput(text, this.agent.commands());
    if (this.current.phase !== "idle" && !isAtOnce(input)) {
      // Commands change the chat itself, so they wait for the end.
      const message = { text, shown, when: input.type === "prompt" ? when : "end" } as const;
      this.setQueue([...this.current.queue, message]);
      return this.goOnPlanning();
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
        return this.turn(typed, (signal) => this.prompts.command(input.name, input.argument, signal));
      case "prompt":
        return this.turn(typed, (signal) => this.prompts.send(input.text, signal));
      case "shell":
        return this.runShell(input.command, typed);
      case "note":
        return this.open("notes", input.text);
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

  /** Answers the question for a line of text; undefined leaves it open. */
  answerText(text: string | undefined): void {
    this.questions.answer(text);
  }

  /** Answers the first question. */
  answer(answer: ChatAnswer): void {
    const [first] = this.current.permissions;
    if (first) this.agent.answerPermission(first.callId, answer);
  }

  /** A message is an answer to the question about a plan: what it says goes on with the plan. */
  private goOnPlanning(): void {
    if (this.current.permissions[0]?.scope === "plan") this.answer("deny");
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
  async openIfIdle(kind: "messages" | "history"): Promise<void> {
    if (this.current.phase === "idle") await this.open(kind);
  }

  /** Takes a choice of the open list. Returns the text that belongs into the draft, if any. */
  async pick({ id }: Choice): Promise<string | undefined> {
    const { picker } = this.current;
    this.setPicker(undefined);
    return picker && this.take(picker.kind, id, picker.about);
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
    status: () => this.showFacts("status", statusFacts(this.agent.status())),
    compact: (focus) => this.play("/compact", (how) => this.agent.compact(focus, how)),
    undo: async () => {
      for (const line of await this.agent.undo()) this.notice(line);
    },
    mode: (name) => this.openOr("modes", name),
    trust: () => this.play("/trust", (how) => this.agent.trust(how)),
    mcp: async (argument) => {
      const words = argument.split(/\s+/).filter(Boolean);
      if (words[0] !== "approve" && words[0] !== "allow")
        return this.showFacts("mcp", await this.agent.mcp(words));
      return this.play(`/mcp ${words.join(" ")}`, (how) => this.agent.decideServer(words, how));
    },
    init: () => this.turn("/init", (signal) => this.prompts.send(INIT_PROMPT, signal)),
    model: (name) => this.openOr("models", name),
    thinking: (level) => this.openOr("thinking", level.toLowerCase()),
    resume: (session) => this.openOr("sessions", session),
    rename: async (title) => {
      await this.agent.rename(title);
      this.notice(`The conversation is called ${title}.`);
    },
    export: async (file) => this.notice(`Written to ${await this.agent.exportTo(file)}.`),
    clear: async () => {
      await this.agent.clear();
      this.dispatch({ type: "cleared" });
      this.refresh();
    },
    exit: () => this.leave(),
  };

  private dispatch(event: ChatEvent): void {
    this.frames.flush();
    this.apply(event);
  }

  private apply(event: ChatEvent): void {
    this.current = reduce(this.current, event);
    for (const listener of this.listeners) listener();
  }

  private show(block: ChatBlock): void {
    this.dispatch({ type: "show", block });
  }

  notice(text: string): void {
    this.show({ kind: "notice", text: toVisibleText(text) });
  }

  private showProblem(error: unknown): void {
    this.show({ kind: "problem", ...toFailure(error) });
  }

  private setQueue(queue: ChatState["queue"]): void {
    this.dispatch({ type: "set", change: { queue } });
  }

  showPast(messages: readonly PastMessage[]): void {
    this.dispatch({ type: "resumed", messages });
  }

  refresh(): void {
    this.dispatch({ type: "set", change: { status: this.agent.status() } });
  }

  setPicker(picker: Picker | undefined): void {
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
      if (isStreamed(event)) this.frames.push(event);
      else this.dispatch(event);
      if (this.current.queue.length > 0) this.goOnPlanning();
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

  private showFacts(name: string, facts: readonly Fact[]): void {
    if (facts.length === 0) this.notice(EMPTY[name] ?? `No ${name}.`);
    else this.show({ kind: "facts", facts: facts.map(cleanFact) });
  }

  /** Opens a list. A list without lines is a sentence. */
  async open(kind: Picker["kind"], about = ""): Promise<void> {
    const { title, numbered, empty, choices: choicesOf } = PICKS[kind];
    const choices = await choicesOf(this, about);
    if (choices.length === 0) this.notice(empty);
    else this.setPicker({ kind, title, choices, numbered, about });
  }

  /** Does the work of a choice, and returns the text for the draft. */
  private async take(kind: Picker["kind"], id: string, about = ""): Promise<string | undefined> {
    try {
      const text = await PICKS[kind].take(this, id, about);
      return typeof text === "string" ? text : undefined;
    } catch (error) {
      this.showProblem(error);
      return undefined;
    }
  }

  /** Opens a list, or takes the choice that the person has named. */
  private openOr(kind: Picker["kind"], id: string): Promise<unknown> {
    return id === "" ? this.open(kind) : this.take(kind, id);
  }

  private async runCommand({ name, topic }: SlashCommand, argument: string): Promise<void> {
    if (topic) this.showFacts(name, await this.agent.list(topic));
    else await this.actions[name]?.(argument);
  }
}
