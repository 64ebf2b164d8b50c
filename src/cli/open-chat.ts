import { homedir } from "node:os";
import type { AgentEvent } from "../agent/agent-event.ts";
import { isTrusted } from "../config/folder-trust.ts";
import { newSpan } from "../telemetry/trace-context.ts";
import type { ChatAgent, PermissionAnswer, RunOptions } from "../tui/chat-agent.ts";
import { type OpenAgentOptions, type OpenedAgent, openAgent } from "./open-agent.ts";
import { openOwnCommands } from "./own-commands.ts";
import { type AdaptedChat, toChatAgent } from "./to-chat-agent.ts";
import { giveTrust, showRequest, type TrustRequest, trustRequest } from "./trust-folder.ts";

/** The agent of a chat. */
export interface OpenedChat extends Pick<AdaptedChat, "past"> {
  readonly agent: ChatAgent;
  /** The provider and model in use. */
  modelName(): string;
  readonly problems: OpenedAgent["loaded"]["problems"];
  /** Whether the folder has files that count only once a person trusts it. */
  readonly asksTrust: boolean;
  close(): Promise<void>;
}

interface Opened extends AdaptedChat {
  readonly opened: OpenedAgent;
}

const TRUST_CALL = "trust";

/**
 * Opens the agent of a chat. Trust that a person gives inside the chat opens it again with the folder's files; the
 * conversation, the mode, the model and the files to undo stay.
 */
export async function openChat(options: OpenAgentOptions, resume?: string): Promise<OpenedChat> {
  let current = await open(options, resume);
  let answerTrust: ((answer: PermissionAnswer) => void) | undefined;

  async function openAgain(): Promise<void> {
    const { opened } = current;
    const id = current.conversation();
    const model = `${opened.providers().default}/${opened.model() ?? ""}`;
    await current.close();
    const again = { ...options, checkpoints: opened.checkpoints };
    try {
      current = await open(again, id);
    } catch (error) {
      // The chat goes on as it was before.
      await (id === undefined ? current.agent.clear() : current.agent.resume(id));
      throw error;
    }
    current.opened.setMode(opened.mode());
    if (opened.wasModelChosen()) current.opened.setModel(model);
    await opened.close();
  }

  async function* trust({ signal }: RunOptions): AsyncGenerator<AgentEvent> {
    const notice = (text: string): AgentEvent => ({ type: "notice", text, span: newSpan() });
    const request = await trustRequest(options.folder);
    if (await isTrusted(options.folder)) return yield notice("The folder is trusted already.");
    if (isEmpty(request)) return yield notice("The folder holds nothing that needs trust.");
    const { promise, resolve } = Promise.withResolvers<PermissionAnswer>();
    answerTrust = resolve;
    signal.addEventListener("abort", () => resolve("deny"), { once: true });
    const about = { callId: TRUST_CALL, span: newSpan() };
    const action = showRequest(request).join("\n");
    yield { type: "permission-request", scope: "folder", action, reason: "", always: [], ...about };
    const answer = await promise;
    answerTrust = undefined;
    const agreed = answer === "once";
    yield { type: "permission-answer", answer: agreed ? "once" : "deny", ...about };
    if (!agreed) return yield notice("Not trusted: none of these files is used. /trust asks again.");
    await giveTrust(request);
    await openAgain();
    for (const { message } of current.opened.loaded.problems) yield notice(message);
    yield notice("Trusted. The files of this folder are in use from now on.");
  }

  const own: Partial<ChatAgent> = {
    trust,
    answerPermission: (callId, answer) =>
      callId === TRUST_CALL ? answerTrust?.(answer) : current.agent.answerPermission(callId, answer),
  };
  return {
    // Everything else is for the agent that is open now.
    agent: new Proxy({} as ChatAgent, {
      get: (_, name) => Reflect.get(own, name) ?? Reflect.get(current.agent, name),
    }),
    past: current.past,
    modelName: () => current.opened.modelName(),
    problems: current.opened.loaded.problems,
    asksTrust: !current.opened.trusted && !isEmpty(await trustRequest(options.folder)),
    close: async () => {
      await current.close();
      await current.opened.close();
    },
  };
}

async function open(options: OpenAgentOptions, resume: string | undefined): Promise<Opened> {
  const opened = await openAgent(options);
  const places = [...(opened.trusted ? [options.folder] : []), homedir()];
  const commands = await openOwnCommands(places, opened.gateway);
  try {
    return { opened, ...(await toChatAgent(opened, commands, resume)) };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

function isEmpty({ contents }: TrustRequest): boolean {
  return contents.files.length + contents.texts.length === 0;
}
