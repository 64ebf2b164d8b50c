import { homedir } from "node:os";
import { basename, join, relative } from "node:path";
import type { ModelMessage } from "ai";
import { problem } from "../../base/problems/problem.ts";
import { newSpan } from "../../core/telemetry/events.ts";
import { CONTEXT_CAUSES } from "../context/count-context.ts";
import { type AgentEffort, type AgentSession, rewind, type SessionState, say } from "../loop/agent.ts";
import type { AgentEvent, PromptFile } from "../loop/agent-event.ts";
import { addNote, noteFile } from "../loop/agents-files.ts";
import { compactSession, contextOf } from "../loop/fit-context.ts";
import { run } from "../loop/run.ts";
import { type Ask, EventQueue, type Untraced } from "../loop/run-context.ts";
import { toContent } from "../loop/turn.ts";
import { modelFacts } from "../models/providers/model-facts.ts";
import type {
  AskText,
  ChatAgent,
  ChatRunOptions,
  Choice,
  PickTopic,
  PromptMessage,
  Rewound,
} from "../tui/chat-agent.ts";
import { toMention } from "../tui/mentions.ts";
import type { ConversationPlace } from "../workspace/checkpoints.ts";
import { ChatCosts, chatFacts } from "./chat-facts.ts";
import { keepImage, readClipboard, readImage, removeOldImages } from "./chat-images.ts";
import type { ChatParts } from "./chat-parts.ts";
import { type ChatQuestions, noticeOf, type PersonCall, runPersonCall } from "./chat-questions.ts";
import { createChatServers } from "./chat-servers.ts";
import type { CustomCommands } from "./custom-commands.ts";
import { exportChat, pastOf, promptsOf } from "./export-chat.ts";
import { chooseProvider, createModelLists, missingKey, needsKey } from "./model-lists.ts";

export type AdaptedChat = Awaited<ReturnType<typeof toChatAgent>>;

export async function toChatAgent(
  opened: ChatParts,
  commands: CustomCommands,
  questions: ChatQuestions,
  resume?: string,
) {
  const { dataDir } = opened.loaded.settings.agent;
  const images = join(dataDir || join(homedir(), ".keyhole"), "images");
  void removeOldImages(images, opened.loaded.settings.session.maxAgeDays).catch(() => {});
  const servers = createChatServers(opened, questions);
  const session = await opened.agent.openSession(resume === undefined ? {} : { resume });
  const chat = new ChatConversation(opened, session, { questions, images, news: () => servers.news() });
  return {
    past: pastOf(chat.session),
    /** The id of the conversation, if it has messages. */
    conversation: () => (chat.session.messages.length === 0 ? undefined : chat.session.id),
    close: () => chat.session.end(),
    /** Without trust, which needs another agent. */
    agent: {
      status: () => chat.status(),
      setMode: opened.setMode,
      run: (prompt, options) => chat.run(prompt, options),
      shell: (command, options) => chat.runShell(command, options),
      read: (path, options) => chat.read(path, options),
      image: readImage,
      clipboard: async () => {
        const content = await readClipboard();
        if (!content || "text" in content) return content?.text;
        const image = await keepImage(images, content.image);
        return image && `${toMention(image.path)} `;
      },
      answerPermission: questions.answer,
      cardOf: questions.cardOf,
      context: () => chat.context(),
      compact: (focus, options) => chat.compact(focus, options),
      list: (topic) => chatFacts(topic, opened, chat.costs),
      choices: (topic, about) => chat.choices(topic, about),
      setModel: (name, ask) => chat.setModel(name, ask),
      resume: async (wanted = "last") => {
        await chat.open(wanted);
        return pastOf(chat.session);
      },
      setThinking: (level) =>
        opened.setEffort(level === "default" ? undefined : level === "off" ? "none" : (level as AgentEffort)),
      rewind: (message, what) => chat.rewind(message, what),
      undo: () => chat.undo(),
      addNote,
      mcp: servers.command,
      decideServer: servers.decide,
      news: async () => {
        await opened.gateway.view();
        return servers.news();
      },
      commands: commands.list,
      expand: commands.expand,
      say: (messages) => say(chat.session as SessionState, messages.map(toModelMessage)),
      rename: (title) => chat.rename(title),
      exportTo: (file) =>
        exportChat(chat.session.messages, {
          folder: process.cwd(),
          name: file || `keyhole-${chat.session.id}.md`,
        }),
      clear: () => chat.open(),
    } satisfies Omit<ChatAgent, "trust">,
  };
}

interface ChatConversationOptions {
  readonly questions: ChatQuestions;
  /** The folder that keeps images. */
  readonly images: string;
  /** Texts about servers that the person has not seen. */
  news(): readonly string[];
}

function costsOf({ restored }: AgentSession): ChatCosts {
  const costs = new ChatCosts();
  for (const event of restored) costs.note(event);
  return costs;
}

/** The conversation that a chat shows now, with its costs. */
class ChatConversation {
  session: AgentSession;
  costs: ChatCosts;
  private ownCalls = 0;
  /** Notes for the model about things that the person did since the last prompt. */
  private notes: string[] = [];
  private readonly opened: ChatParts;
  private readonly models: ReturnType<typeof createModelLists>;
  private readonly ask: Ask;
  private readonly questions: ChatQuestions;
  private readonly images: string;
  private readonly news: () => readonly string[];

  constructor(
    opened: ChatParts,
    session: AgentSession,
    { questions, images, news }: ChatConversationOptions,
  ) {
    this.opened = opened;
    this.session = session;
    this.costs = costsOf(session);
    this.models = createModelLists(opened);
    this.ask = ({ callId }, signal) => questions.wait(callId, signal);
    this.questions = questions;
    this.images = images;
    this.news = news;
  }

  /** Opens a new conversation, or an earlier one, and ends the one before it. */
  async open(resume?: string): Promise<void> {
    const next = await this.opened.agent.openSession(resume === undefined ? {} : { resume });
    await this.session.end();
    this.session = next;
    this.notes = [];
    this.costs = costsOf(next);
  }

  /** Tells the model something with the next prompt. */
  tell(text: string): void {
    this.notes.push(`[${text}]`);
  }

  async *run(asked: string, options: ChatRunOptions): AsyncGenerator<AgentEvent> {
    const { agent, checkpoints, observe } = this.opened;
    const { session, ask } = this;
    checkpoints.begin(this.place());
    const prompt = [asked, ...this.notes].join("\n\n");
    this.notes = [];
    yield* this.news().map(noticeOf);
    const steer = async () => {
      const messages = (await options.steer?.()) ?? [];
      if (messages.length > 0) checkpoints.begin(this.place(), true);
      return messages;
    };
    let outcome: string | undefined;
    for await (const event of observe(run(agent, prompt, { ...options, steer, session, ask }))) {
      if (event.type === "agent-end") outcome = event.outcome;
      this.costs.note(event);
      if (event.type !== "tool-end" || !event.files) {
        yield event;
        continue;
      }
      const { files: images, ...end } = event;
      yield end;
      yield* this.keepImages(images);
    }
    yield* this.news().map(noticeOf);
    if (outcome === "answered" && this.opened.mode() === "plan") yield* this.offerPlan(options);
  }

  /** Asks whether the plan of the last answer is to be done, and goes on with it after a yes. */
  private async *offerPlan(options: ChatRunOptions): AsyncGenerator<AgentEvent> {
    const answer = yield* this.questions.ask("plan", PLANNED, options.signal);
    if (answer === "deny") return;
    this.opened.setMode(answer === "session" ? "accept-edits" : "ask");
    yield { type: "user-message", text: "Do it.", span: newSpan() };
    yield* this.run(DO_PLAN, options);
  }

  /** Undoes the changes of files since a place, by default those of the last turn. Returns a line for each. */
  async undo(since?: ConversationPlace): Promise<readonly string[]> {
    const { lines, changed } = await this.opened.checkpoints.undo(since);
    if (changed) this.tell(`The person undid the file changes of a turn:\n${lines.join("\n")}`);
    return lines;
  }

  async rewind(message: string, what: string): Promise<Rewound> {
    const { checkpoints } = this.opened;
    const prompt = promptsOf(this.session).find(({ id }) => id === message)?.name ?? "";
    const place = this.place(Number(message));
    if (what === "files") return { prompt, lines: await this.undo(place) };
    const changed = checkpoints.changedSince(place).join(", ");
    // The changes of the person since then stand in messages that are gone.
    this.notes = [];
    if (what === "conversation" && changed !== "")
      this.tell(`The person went back in the conversation. Later changes of files stay: ${changed}`);
    const { lines } = what === "both" ? await checkpoints.undo(place) : { lines: [] };
    rewind(this.session as SessionState, place.messages);
    return { past: pastOf(this.session), prompt, lines };
  }

  /** A place in this conversation; by default its end. */
  private place(messages = this.session.messages.length): ConversationPlace {
    return { conversation: this.session.id, messages };
  }

  /** Keeps the images of a result as files, and tells where. */
  private async *keepImages(images: readonly PromptFile[]): AsyncGenerator<AgentEvent> {
    for (const { data } of images) {
      const image = await keepImage(this.images, Buffer.from(data, "base64")).catch(() => undefined);
      if (image) yield noticeOf(`  └ ${image.about}: ${image.path}`);
    }
  }

  async *compact(focus: string, { signal }: ChatRunOptions): AsyncGenerator<AgentEvent> {
    const queue = new EventQueue<AgentEvent>();
    const emit = (event: Untraced) => queue.push({ ...event, span: newSpan() } as AgentEvent);
    const options = { keep: 0, signal, emit, ...(focus !== "" && { focus }) };
    const compacted = await compactSession(this.opened.agent, this.session as SessionState, options);
    if (!compacted) emit({ type: "notice", text: "There is nothing to summarize yet." });
    queue.close();
    for await (const event of queue.values()) {
      this.costs.note(event);
      yield event;
    }
  }

  /** Runs a command that the person typed, without asking, and tells the model its output. */
  async *runShell(command: string, { signal }: ChatRunOptions): AsyncGenerator<AgentEvent> {
    for await (const event of this.call("shell", { command }, { signal })) {
      if (event.type === "tool-end") this.tell(`The person ran the command ${command}\n${event.text}`);
      yield event;
    }
  }

  read(path: string, options: ChatRunOptions) {
    return this.call("read", { path }, options, this.ask);
  }

  private call(tool: PersonCall["tool"], args: PersonCall["args"], { signal }: ChatRunOptions, ask?: Ask) {
    // During a run, the call belongs to the changes of its turn.
    if (!(this.session as SessionState).busy) this.opened.checkpoints.begin(this.place());
    this.ownCalls += 1;
    const call = { callId: `own-${this.ownCalls}`, tool, args };
    return runPersonCall(call, { gateway: this.opened.gateway, ask, signal });
  }

  status() {
    const { opened, costs } = this;
    const { contextWindow } = opened.loaded.settings.agent;
    const effort = opened.effort();
    return {
      mode: opened.mode(),
      model: opened.modelName(),
      thinking: effort === "none" ? "off" : effort,
      tokens: costs.lastTokens,
      window: contextWindow ?? modelFacts(opened.model() ?? "")?.window ?? 0,
      ...(costs.dollars !== undefined && { cost: costs.dollars }),
    };
  }

  async context() {
    const { counts, ...state } = await contextOf(this.opened.agent, this.session as SessionState);
    const { everything } = (await this.opened.gateway.report()).ledger;
    const parts = CONTEXT_CAUSES.map((name) => ({ name, tokens: counts[name] }));
    return { ...state, everything, parts };
  }

  async choices(topic: PickTopic, about = ""): Promise<readonly Choice[]> {
    if (topic === "models") return this.models.choices();
    if (topic === "messages") return promptsOf(this.session).toReversed();
    if (topic === "notes") return notePlaces(this.opened.trusted);
    if (topic === "rewind") return waysBack(this.opened.checkpoints.changedSince(this.place(Number(about))));
    const sessions = (await this.opened.agent.options.sessions?.list()) ?? [];
    return sessions
      .filter(({ folder }) => folder === process.cwd())
      .map(({ id, at, prompt = "", title = prompt }) => ({
        id,
        name: at.toISOString().slice(0, 16).replace("T", " "),
        text: title,
      }));
  }

  async setModel(name: string, ask: AskText): Promise<void> {
    const [{ default: provider }] = chooseProvider(this.opened.providers(), name);
    const variable = missingKey(this.opened.providers(), provider);
    if (variable !== undefined) {
      const about = `It is not shown, and kept among the secrets. The variable ${variable} works too.`;
      const key = await ask({ title: `Key of ${provider}:`, about, isSecret: true });
      if (key !== undefined) await this.opened.keepKey(provider, key);
      else if (needsKey(provider))
        throw problem("PROVIDER_NOT_CONFIGURED", { name: provider, reason: "it has no key." });
    }
    await this.models.check(name);
    this.opened.setModel(name);
  }

  async rename(title: string): Promise<void> {
    const { sessions } = this.opened.agent.options;
    const reason = title === "" ? "it needs a title" : sessions ? undefined : "conversations are not kept";
    if (reason !== undefined) throw problem("INVALID_INPUT", { operation: "/rename", reason });
    await sessions?.rename(this.session.id, title);
  }
}

/** A message of a prompt as the model gets it. */
export function toModelMessage({ role, prompt, files = [] }: PromptMessage): ModelMessage {
  return role === "assistant" ? { role, content: prompt } : { role, content: toContent(prompt, files) };
}

const PLANNED = "The plan is above. Nothing was changed yet. A message that you type goes on planning.";
const DO_PLAN =
  "The person approves the plan. Plan mode is over: carry the plan out now, and check the result.";

/** The files that a note can go to: the project's and the person's own. */
async function notePlaces(trusted: boolean): Promise<Choice[]> {
  const [project, own] = [await noteFile(process.cwd()), await noteFile(join(homedir(), ".keyhole"))];
  const hint = trusted ? "" : "; it counts once you trust the folder: /trust";
  return [
    { id: project, name: basename(project), text: `of this project${hint}` },
    { id: own, name: `~/${relative(homedir(), own)}`, text: "your own" },
  ];
}

/** The ways to go back to a message since which these files changed. */
function waysBack(files: readonly string[]): Choice[] {
  if (files.length === 0) return [];
  const names = files.map((path) => relative(process.cwd(), path)).join(", ");
  return [
    { id: "both", name: "the conversation and the files", text: names },
    { id: "conversation", name: "the conversation alone", text: "files stay as they are" },
    { id: "files", name: "the files alone", text: names },
  ];
}
