import { homedir } from "node:os";
import { type ChatQuestions, createChatQuestions, noticeOf } from "../../agent/chat/chat-questions.ts";
import { openCustomCommands } from "../../agent/chat/custom-commands.ts";
import { type AdaptedChat, toChatAgent } from "../../agent/chat/to-chat-agent.ts";
import type { AgentEvent } from "../../agent/loop/agent-event.ts";
import type { ChatAgent, ChatRunOptions } from "../../agent/tui/chat-agent.ts";
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

async function open(
  options: OpenAgentOptions,
  questions: ChatQuestions,
  resume: string | undefined,
): Promise<AdaptedChat & { readonly opened: OpenedAgent }> {
  const opened = await openAgent(options);
  const places = [...(opened.trusted ? [options.folder] : []), homedir()];
  const commands = await openCustomCommands(places, opened.gateway);
  try {
    return { opened, ...(await toChatAgent(opened, commands, questions, resume)) };
  } catch (error) {
    await opened.close();
    throw error;
  }
}
