import { homedir } from "node:os";
import { join } from "node:path";
import type { SessionState } from "../agent/agent.ts";
import type { AgentEvent } from "../agent/agent-event.ts";
import type { Ask, AskAnswer } from "../agent/ask-request.ts";
import { CONTEXT_CAUSES } from "../agent/context/count-context.ts";
import { createEventQueue } from "../agent/event-queue.ts";
import { compactSession, contextOf } from "../agent/fit-context.ts";
import type { PromptFile } from "../agent/prompt-file.ts";
import { rewind } from "../agent/rewind.ts";
import { run } from "../agent/run.ts";
import type { Untraced } from "../agent/run-context.ts";
import { modelFacts } from "../models/providers/model-facts.ts";
import { problem } from "../schema/problem.ts";
import { newSpan } from "../telemetry/trace-context.ts";
import type { ChatAgent, Choice, PastMessage, PickTopic, RunOptions } from "../tui/chat-agent.ts";
import { toMention } from "../tui/mentions.ts";
import { createChatCosts } from "./chat-costs.ts";
import { chatFacts } from "./chat-facts.ts";
import { type ChatQuestions, noticeOf } from "./chat-questions.ts";
import { createChatServers } from "./chat-servers.ts";
import { readClipboard } from "./clipboard.ts";
import { exportChat } from "./export-chat.ts";
import { openKeptImages } from "./kept-images.ts";
import { createModelLists } from "./model-lists.ts";
import type { OpenedAgent } from "./open-agent.ts";
import { type OwnCall, runOwnCall } from "./own-call.ts";
import type { OwnCommands } from "./own-commands.ts";
import { pastOf, promptsOf } from "./past-messages.ts";
import { readImage } from "./read-image.ts";

export interface AdaptedChat {
  /** Without trust, which needs another agent. */
  readonly agent: Omit<ChatAgent, "trust">;
  /** The messages of a resumed session. */
  readonly past: readonly PastMessage[];
  /** The id of the conversation, if it has messages. */
  conversation(): string | undefined;
  /** Ends the conversation's session. */
  close(): Promise<void>;
}

/** Adapts an agent to the chat. */
export async function toChatAgent(
  opened: OpenedAgent,
  commands: OwnCommands,
  questions: ChatQuestions,
  resume?: string,
): Promise<AdaptedChat> {
  const { agent, gateway, loaded } = opened;
  const waiting = new Map<string, (answer: AskAnswer) => void>();
  const costs = createChatCosts();
  const models = createModelLists(opened);
  const { dataDir } = loaded.settings.agent;
  const images = openKeptImages(
    join(dataDir || join(homedir(), ".keyhole"), "images"),
    loaded.settings.session.maxAgeDays,
  );
  const servers = createChatServers(opened.servers, gateway, questions);
  let session = await agent.openSession(resume === undefined ? {} : { resume });
  let ownCalls = 0;
  for (const event of session.restored) costs.note(event);

  const ask: Ask = ({ callId }, signal) => {
    const { promise, resolve } = Promise.withResolvers<AskAnswer>();
    waiting.set(callId, resolve);
    signal.addEventListener("abort", () => resolve("deny"), { once: true });
    return promise.finally(() => waiting.delete(callId));
  };

  async function* converse(prompt: string, { signal, files = [] }: RunOptions): AsyncGenerator<AgentEvent> {
    opened.checkpoints.begin();
    yield* news();
    for await (const event of opened.observe(run(agent, prompt, { session, signal, ask, files }))) {
      costs.note(event);
      if (event.type !== "tool-end" || !event.files) {
        yield event;
        continue;
      }
      const { files: made, ...end } = event;
      yield end;
      yield* keepImages(made);
    }
    yield* news();
  }

  /** Keeps the images of a result as files, and tells where. */
  async function* keepImages(made: readonly PromptFile[]): AsyncGenerator<AgentEvent> {
    for (const { data } of made) {
      const kept = await images.keep(Buffer.from(data, "base64")).catch(() => undefined);
      if (kept) yield noticeOf(`  └ ${kept.about}: ${kept.path}`);
    }
  }

  /** Tells about servers that broke and definitions that wait. */
  function* news(): Generator<AgentEvent> {
    for (const text of servers.news()) yield noticeOf(text);
  }

  async function* compact(focus: string, { signal }: RunOptions): AsyncGenerator<AgentEvent> {
    const queue = createEventQueue<AgentEvent>();
    const emit = (event: Untraced) => queue.push({ ...event, span: newSpan() } as AgentEvent);
    const options = { keep: 0, signal, emit, ...(focus !== "" && { focus }) };
    const compacted = await compactSession(agent, session as SessionState, options);
    if (!compacted) emit({ type: "notice", text: "There is nothing to summarize yet." });
    queue.close();
    for await (const event of queue.values()) {
      costs.note(event);
      yield event;
    }
  }

  function call(tool: OwnCall["tool"], args: OwnCall["args"], { signal }: RunOptions) {
    opened.checkpoints.begin();
    return runOwnCall({ callId: `own-${++ownCalls}`, tool, args }, { gateway, ask, signal });
  }

  async function choices(topic: PickTopic): Promise<readonly Choice[]> {
    switch (topic) {
      case "models":
        return models.choices();
      case "sessions": {
        const known = (await agent.options.sessions?.list()) ?? [];
        const here = known.filter(({ folder }) => folder === process.cwd());
        return here.map(({ id, at, prompt = "", title = prompt }) => ({
          id,
          name: at.toISOString().slice(0, 16).replace("T", " "),
          text: title,
        }));
      }
      case "messages":
        return promptsOf(session).toReversed();
    }
  }

  async function open(wanted?: string): Promise<void> {
    const next = await agent.openSession(wanted === undefined ? {} : { resume: wanted });
    await session.end();
    session = next;
    costs.clear();
    for (const event of session.restored) costs.note(event);
  }

  return {
    past: pastOf(session),
    conversation: () => (session.messages.length === 0 ? undefined : session.id),
    close: () => session.end(),
    agent: {
      status: () => ({
        mode: opened.mode(),
        model: opened.modelName(),
        tokens: costs.lastTokens,
        window: loaded.settings.agent.contextWindow ?? modelFacts(opened.model() ?? "")?.window ?? 0,
        ...(costs.dollars !== undefined && { cost: costs.dollars }),
      }),
      setMode: opened.setMode,
      run: converse,
      shell: (command, options) => call("shell", { command }, options),
      read: (path, options) => call("read", { path }, options),
      image: readImage,
      clipboard: async () => {
        const found = await readClipboard();
        if (!found || "text" in found) return found?.text;
        const kept = await images.keep(found.image);
        return kept && `${toMention(kept.path)} `;
      },
      answerPermission: (callId, answer) => {
        if (!questions.answer(callId, answer)) waiting.get(callId)?.(answer);
      },
      context: async () => {
        const { counts, ...state } = await contextOf(agent, session as SessionState);
        const { everything } = await gateway.ledger();
        return {
          ...state,
          everything,
          parts: CONTEXT_CAUSES.map((name) => ({ name, tokens: counts[name] })),
        };
      },
      compact,
      list: (topic) => chatFacts(topic, opened, costs),
      choices,
      setModel: async (name) => {
        await models.check(name);
        opened.setModel(name);
      },
      resume: async (wanted = "last") => {
        await open(wanted);
        return pastOf(session);
      },
      rewind: async (message) => {
        const prompt = promptsOf(session).find(({ id }) => id === message)?.name ?? "";
        rewind(session as SessionState, Number(message));
        return { past: pastOf(session), prompt };
      },
      undo: () => opened.checkpoints.undo(),
      mcp: servers.command,
      decideServer: servers.decide,
      commands: commands.list,
      expand: commands.expand,
      rename: async (title) => {
        if (title === "")
          throw problem("INVALID_INPUT", { operation: "/rename", reason: "it needs a title" });
        if (!agent.options.sessions)
          throw problem("INVALID_INPUT", { operation: "/rename", reason: "conversations are not kept" });
        await agent.options.sessions.rename(session.id, title);
      },
      exportTo: (file) =>
        exportChat(session.messages, { folder: process.cwd(), name: file || `keyhole-${session.id}.md` }),
      clear: () => open(),
    },
  };
}
