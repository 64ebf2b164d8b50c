import { writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { ModelMessage } from "ai";
import { problem } from "../../base/problems/problem.ts";
import { hideSecrets } from "../../base/safety/known-secrets.ts";
import { createRedact } from "../../base/safety/redact.ts";
import { toVisibleText } from "../../base/safety/visible-text.ts";
import { newSpan } from "../../core/telemetry/trace-context.ts";
import { outputText } from "../../faces/ai-sdk/messages.ts";
import { CONTEXT_CAUSES } from "../context/count-context.ts";
import { type AgentSession, rewind, type SessionState } from "../loop/agent.ts";
import type { AgentEvent, PromptFile } from "../loop/agent-event.ts";
import { compactSession, contextOf } from "../loop/fit-context.ts";
import { run } from "../loop/run.ts";
import { type Ask, EventQueue, type Untraced } from "../loop/run-context.ts";
import { modelFacts } from "../models/providers/model-facts.ts";
import type { ChatAgent, ChatRunOptions, Choice, PastMessage, PickTopic } from "../tui/chat-agent.ts";
import { toCodeBlock, toMention } from "../tui/mentions.ts";
import { ChatCosts, chatFacts } from "./chat-facts.ts";
import { keepImage, readClipboard, readImage, removeOldImages } from "./chat-images.ts";
import type { ChatParts } from "./chat-parts.ts";
import { type ChatQuestions, noticeOf, type PersonCall, runPersonCall } from "./chat-questions.ts";
import { createChatServers } from "./chat-servers.ts";
import type { CustomCommands } from "./custom-commands.ts";
import { createModelLists } from "./model-lists.ts";

export type AdaptedChat = Awaited<ReturnType<typeof toChatAgent>>;

export async function toChatAgent(
  opened: ChatParts,
  commands: CustomCommands,
  questions: ChatQuestions,
  resume?: string,
) {
  const { agent, gateway, loaded } = opened;
  let costs = new ChatCosts();
  const models = createModelLists(opened);
  const { dataDir } = loaded.settings.agent;
  const imageFolder = join(dataDir || join(homedir(), ".keyhole"), "images");
  void removeOldImages(imageFolder, loaded.settings.session.maxAgeDays).catch(() => {});
  const servers = createChatServers(opened, questions);
  let session = await agent.openSession(resume === undefined ? {} : { resume });
  let ownCalls = 0;
  for (const event of session.restored) costs.note(event);

  const ask: Ask = ({ callId }, signal) => questions.wait(callId, signal);

  async function* converse(
    prompt: string,
    { signal, files = [] }: ChatRunOptions,
  ): AsyncGenerator<AgentEvent> {
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
      const kept = await keepImage(imageFolder, Buffer.from(data, "base64")).catch(() => undefined);
      if (kept) yield noticeOf(`  └ ${kept.about}: ${kept.path}`);
    }
  }

  function* news(): Generator<AgentEvent> {
    for (const text of servers.news()) yield noticeOf(text);
  }

  async function* compact(focus: string, { signal }: ChatRunOptions): AsyncGenerator<AgentEvent> {
    const queue = new EventQueue<AgentEvent>();
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

  function call(tool: PersonCall["tool"], args: PersonCall["args"], { signal }: ChatRunOptions) {
    opened.checkpoints.begin();
    return runPersonCall({ callId: `own-${++ownCalls}`, tool, args }, { gateway, ask, signal });
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
    costs = new ChatCosts();
    for (const event of session.restored) costs.note(event);
  }

  return {
    past: pastOf(session),
    /** The id of the conversation, if it has messages. */
    conversation: () => (session.messages.length === 0 ? undefined : session.id),
    close: () => session.end(),
    /** Without trust, which needs another agent. */
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
        const kept = await keepImage(imageFolder, found.image);
        return kept && `${toMention(kept.path)} `;
      },
      answerPermission: questions.answer,
      cardOf: questions.cardOf,
      context: async () => {
        const { counts, ...state } = await contextOf(agent, session as SessionState);
        const { everything } = (await gateway.report()).ledger;
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
    } satisfies Omit<ChatAgent, "trust">,
  };
}

/** Text that looks like a secret, whoever it belongs to: people pass such files on. */
const redact = createRedact([], { kinds: true });

/**
 * Writes a conversation as Markdown into a new file of the folder, without secrets. Returns its path.
 *
 * @throws INVALID_INPUT if the file exists.
 */
export async function exportChat(
  messages: readonly ModelMessage[],
  { folder, name }: { readonly folder: string; readonly name: string },
): Promise<string> {
  const path = resolve(folder, name);
  await writeFile(path, redact(toVisibleText(hideSecrets(toMarkdown(messages)))), {
    flag: "wx",
    mode: 0o600,
  }).catch((error) => {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    throw problem("INVALID_INPUT", { operation: "/export", reason: `${path} exists; name another file` });
  });
  return path;
}

function toMarkdown(messages: readonly ModelMessage[]): string {
  return `${messages.flatMap(partsOf).join("\n\n")}\n`;
}

function partsOf({ role, content }: ModelMessage): string[] {
  const heading = role === "user" ? "## Person" : "## Keyhole";
  if (typeof content === "string") return content.trim() === "" ? [] : [heading, content.trim()];
  const parts = content.flatMap((part): string[] => {
    if (part.type === "text") return part.text.trim() === "" ? [] : [part.text.trim()];
    if (part.type === "tool-call")
      return [`**${part.toolName}**`, toCodeBlock(JSON.stringify(part.input, null, 2))];
    if (part.type === "tool-result") return [toCodeBlock(outputText(part.output))];
    return part.type === "file" || part.type === "image" ? ["(an image)"] : [];
  });
  return role === "tool" || parts.length === 0 ? parts : [heading, ...parts];
}

type Content = AgentSession["messages"][number]["content"];

/** The messages of a conversation as the chat shows them again. */
function pastOf({ messages }: AgentSession): PastMessage[] {
  return messages.flatMap(({ role, content }): PastMessage[] => {
    if (role !== "user" && role !== "assistant") return [];
    const text = role === "user" ? promptOf(content) : textOf(content);
    return text.trim() === "" ? [] : [{ role, text }];
  });
}

/** The prompts of a conversation, by their place among its messages. */
function promptsOf({ messages }: AgentSession): Choice[] {
  return messages.flatMap(({ role, content }, index): Choice[] => {
    if (role !== "user") return [];
    const text = promptOf(content);
    return text.trim() === "" ? [] : [{ id: String(index), name: text, text: "" }];
  });
}

/** The prompt as it was typed: the first text. Notes and files follow it. */
function promptOf(content: Content): string {
  const [first] = typeof content === "string" ? [{ type: "text", text: content }] : content;
  return first && "text" in first ? first.text : "";
}

function textOf(content: Content): string {
  if (typeof content === "string") return content;
  return content.map((part) => ("text" in part && part.type === "text" ? part.text : "")).join("");
}
