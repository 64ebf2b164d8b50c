import { homedir } from "node:os";
import { type ChatQuestions, createChatQuestions, noticeOf } from "../../agent/chat/chat-questions.ts";
import { openCustomCommands } from "../../agent/chat/custom-commands.ts";
import { type AdaptedChat, toChatAgent } from "../../agent/chat/to-chat-agent.ts";
import type { AgentEvent } from "../../agent/loop/agent-event.ts";
import type { ChatAgent, ChatRunOptions, PromptMessage } from "../../agent/tui/chat-agent.ts";
import { parseChatInput } from "../../agent/tui/commands.ts";
import { problem } from "../../base/problems/problem.ts";
import { faceApiOf } from "../../gateway/face-api.ts";
import { isTrusted } from "./folder-trust.ts";
import { type OpenAgentOptions, type OpenedAgent, openAgent } from "./open-agent.ts";
import { giveTrust, holdsNothing, showContents, trustRequest } from "./trust-folder.ts";

/**
 * Opens the agent of a chat. Trust that a person gives inside the chat opens it again with the folder's files; the
 * conversation, the mode, the model and the files to undo stay.
 */
export async function openChat(options: OpenAgentOptions, resume?: string) {
  const questions = createChatQuestions();
  let current = await open(options, questions, resume);

  async function openAgain(): Promise<void> {
    const { opened } = current;
    const id = current.conversation();
    const model = `${opened.providers().default}/${opened.model() ?? ""}`;
    await current.close();
    const again = { ...options, checkpoints: opened.checkpoints };
    try {
      current = await open(again, questions, id);
    } catch (error) {
      // The chat goes on as it was before.
      await (id === undefined ? current.agent.clear() : current.agent.resume(id));
      throw error;
    }
    Object.assign(agent, current.agent);
    current.opened.setMode(opened.mode());
    current.opened.setEffort(opened.effort());
    if (opened.wasModelChosen()) current.opened.setModel(model);
    await opened.close();
  }

  async function* trust({ signal }: ChatRunOptions): AsyncGenerator<AgentEvent> {
    const request = await trustRequest(options.folder);
    if (await isTrusted(options.folder)) return yield noticeOf("The folder is trusted already.");
    if (holdsNothing(request)) return yield noticeOf("The folder holds nothing that needs trust.");
    const text = showContents(request).join("\n");
    if ((yield* questions.ask("folder", text, signal)) === "deny")
      return yield noticeOf("Not trusted: none of these files is used. /trust asks again.");
    await giveTrust(request);
    await openAgain();
    for (const { message } of current.opened.loaded.problems) yield noticeOf(message);
    yield noticeOf("Trusted. The files of this folder are in use from now on.");
  }

  const agent: ChatAgent = { ...current.agent, trust };
  return {
    agent,
    past: current.past,
    modelName: () => current.opened.modelName(),
    problems: current.opened.loaded.problems,
    /** Whether the folder has files that count only once a person trusts it. */
    asksTrust: !current.opened.trusted && !holdsNothing(await trustRequest(options.folder)),
    close: async () => {
      await current.close();
      await current.opened.close();
    },
  };
}

/** The commands of the person, of a trusted folder, and of servers. */
function openCommands({ trusted, gateway }: OpenedAgent, folder: string) {
  return openCustomCommands([...(trusted ? [folder] : []), homedir()], gateway);
}

/**
 * The prompt of a run without a person, or the messages of the command that it calls.
 * @throws INVALID_INPUT with the argument that is missing
 */
export async function expandPrompt(
  prompt: string,
  opened: OpenedAgent,
  folder: string,
): Promise<readonly PromptMessage[]> {
  const asTyped: readonly PromptMessage[] = [{ role: "user", prompt }];
  if (!prompt.startsWith("/")) return asTyped;
  await faceApiOf(opened.gateway).view("started");
  const commands = await openCommands(opened, folder);
  const input = parseChatInput(prompt, commands.list());
  if (input.type !== "custom") return asTyped;
  const said = await commands.expand(input.name, input.argument);
  if (typeof said === "string") return [{ role: "user", prompt: said }];
  if (said.at(-1)?.role === "user") return said;
  const reason = "its messages end with an answer of the model, so the next message is the person's";
  throw problem("INVALID_INPUT", { operation: `/${input.name}`, reason });
}

async function open(
  options: OpenAgentOptions,
  questions: ChatQuestions,
  resume: string | undefined,
): Promise<AdaptedChat & { readonly opened: OpenedAgent }> {
  const opened = await openAgent(options);
  const commands = await openCommands(opened, options.folder);
  try {
    return { opened, ...(await toChatAgent(opened, commands, questions, resume)) };
  } catch (error) {
    await opened.close();
    throw error;
  }
}
