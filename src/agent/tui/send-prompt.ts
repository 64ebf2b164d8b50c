import { toVisibleText } from "../../base/safety/visible-text.ts";
import { cutText } from "../../base/util/cut-text.ts";
import type { AgentEvent } from "../loop/agent-event.ts";
import type { ChatAgent, ChatOptions, PromptMessage, TextQuestion, UserMessage } from "./chat-agent.ts";
import type { ChatBlock, QueuedMessage } from "./chat-state.ts";
import { includeFiles } from "./mentions.ts";

const MOST_SHOWN_CHARS = 600;

/** The screen, as far as prompts need it. */
interface PromptScreen {
  readonly agent: ChatAgent;
  readonly options: ChatOptions;
  queue(): readonly QueuedMessage[];
  setQueue(queue: readonly QueuedMessage[]): void;
  follow(events: AsyncIterable<AgentEvent>): Promise<AgentEvent | undefined>;
  show(block: ChatBlock): void;
  askText(question: TextQuestion, signal: AbortSignal): Promise<string | undefined>;
}

/** Sends prompts to the agent: with the files that they mention, as commands, and while it runs. */
export class PromptSender {
  readonly #screen: PromptScreen;

  constructor(screen: PromptScreen) {
    this.#screen = screen;
  }

  async send(prompt: string, signal: AbortSignal): Promise<void> {
    const message = await this.#include(prompt, signal);
    if (!signal.aborted) await this.#run(message, signal);
  }

  /** Sends the text of a command, or the messages of a server's prompt. */
  async command(name: string, argument: string, signal: AbortSignal): Promise<void> {
    const { agent, askText } = this.#screen;
    const said = await agent.expand(name, argument, (question) => askText(question, signal));
    if (signal.aborted) return;
    if (typeof said === "string") return this.send(said, signal);
    for (const message of said) this.#show(message);
    const last = said.at(-1);
    agent.say(last?.role === "user" ? said.slice(0, -1) : said);
    // Mentions in the words of a server read no files.
    if (last?.role === "user") await this.#run(last, signal);
  }

  #run({ prompt, files }: UserMessage, signal: AbortSignal) {
    const steer = () => this.#takeSteering(signal);
    return this.#screen.follow(this.#screen.agent.run(prompt, { signal, steer, ...(files && { files }) }));
  }

  #show({ role, prompt, files = [] }: PromptMessage): void {
    const text = toVisibleText(cutText(prompt, MOST_SHOWN_CHARS));
    this.#screen.show(
      role === "user"
        ? { kind: "prompt", text }
        : { kind: "answer", text: toVisibleText(prompt), open: false },
    );
    for (const { mediaType } of files) this.#screen.show({ kind: "notice", text: toVisibleText(mediaType) });
  }

  /** The messages that wait for the model's next request, with the files that they mention. */
  async #takeSteering(signal: AbortSignal): Promise<UserMessage[]> {
    const { queue, setQueue } = this.#screen;
    const messages: UserMessage[] = [];
    const isSteering = ({ when }: QueuedMessage) => when === "step";
    for (let next = queue().find(isSteering); next; next = queue().find(isSteering)) {
      const taken = next;
      setQueue(queue().filter((message) => message !== taken));
      const message = await this.#include(taken.text.trim(), signal);
      messages.push({ ...message, typed: taken.shown.trim() });
    }
    return messages;
  }

  /** A prompt with the files that it mentions. */
  #include(prompt: string, signal: AbortSignal): Promise<UserMessage> {
    const { agent, options, follow, show } = this.#screen;
    return includeFiles(prompt, {
      signal,
      isFile: (path) => options.isFile(path),
      image: (path) => agent.image(path),
      read: (path) => follow(agent.read(path, { signal })),
      tell: (text) => show({ kind: "notice", text: toVisibleText(text) }),
    });
  }
}
