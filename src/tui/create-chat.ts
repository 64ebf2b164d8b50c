import type { AgentEvent } from "../agent/agent-event.ts";
import { isProblem } from "../schema/problem.ts";
import { reasonOf } from "../util/reason-of.ts";
import { toVisibleText } from "../util/visible-text.ts";
import type { ChatAgent, Fact, PastMessage, PermissionAnswer, Topic } from "./chat-agent.ts";
import { type Block, type ChatState, NEW_CHAT } from "./chat-state.ts";
import { COMMANDS, type Command, KEYS, readWish } from "./commands.ts";
import { findMentions, type IncludedFile, withFiles } from "./mentions.ts";
import { type ChatEvent, reduce } from "./reduce.ts";

/** A conversation on a screen: its state, and the actions of the person. */
export interface Chat {
  state(): ChatState;
  /** Calls the listener after each change. Returns unsubscribe. */
  subscribe(listener: () => void): () => void;
  /** Sends a line. Resolves when its work is done; ignored while something runs. */
  submit(text: string): Promise<void>;
  /** Answers the first question. */
  answer(answer: PermissionAnswer): void;
  /** Ctrl-C: cancels the running work; a second one leaves. */
  interrupt(): void;
  /** Resets the first Ctrl-C, so that the next one does not leave. */
  stay(): void;
  /** Shows the last tool call with its whole result. */
  unfold(): void;
  /** Resolves when the person has left. */
  readonly left: Promise<void>;
}

export interface ChatOptions {
  /** Whether a mentioned path is a file. */
  isFile(path: string): Promise<boolean>;
  /** The messages of a resumed conversation. */
  readonly past?: readonly PastMessage[];
}

export function createChat(agent: ChatAgent, { isFile, past = [] }: ChatOptions): Chat {
  const listeners = new Set<() => void>();
  const { promise: left, resolve: leave } = Promise.withResolvers<void>();
  let state = past.length === 0 ? NEW_CHAT : reduce(NEW_CHAT, { type: "resumed", messages: past });
  let controller: AbortController | undefined;

  function dispatch(event: ChatEvent): void {
    state = reduce(state, event);
    for (const listener of listeners) listener();
  }

  const show = (block: Block) => dispatch({ type: "show", block });
  const notice = (text: string) => show({ kind: "notice", text });

  /** Runs one turn. The screen is idle afterwards, whatever happened. */
  async function turn(typed: string, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const own = new AbortController();
    controller = own;
    dispatch({ type: "turn-start", prompt: typed });
    try {
      await work(own.signal);
      dispatch({ type: "turn-end" });
    } catch (error) {
      if (own.signal.aborted) dispatch({ type: "turn-end" });
      else dispatch({ type: "turn-failed", ...toFailure(error) });
    }
    controller = undefined;
  }

  async function follow(events: AsyncIterable<AgentEvent>): Promise<AgentEvent | undefined> {
    let last: AgentEvent | undefined;
    for await (const event of events) {
      dispatch(event);
      last = event;
    }
    return last;
  }

  async function ask(prompt: string, signal: AbortSignal): Promise<void> {
    const files: IncludedFile[] = [];
    for (const { path } of findMentions(prompt)) {
      if (!(await isFile(path))) continue;
      const last = await follow(agent.read(path, { signal }));
      if (signal.aborted) return;
      if (last?.type === "tool-end" && last.ok) files.push({ path, text: last.text });
    }
    await follow(agent.run(withFiles(prompt, files), { signal }));
  }

  async function list(title: string, topic: Topic): Promise<void> {
    const facts = await agent.list(topic);
    if (facts.length === 0) return notice(`No ${topic}.`);
    show({ kind: "facts", title, facts: facts.map(cleanFact) });
  }

  async function runCommand({ name, topic }: Command, argument: string): Promise<void> {
    if (topic) return list(name, topic);
    switch (name) {
      case "help":
        return show({ kind: "facts", title: "help", facts: HELP });
      case "context":
        return show({ kind: "context", report: await agent.context() });
      case "model":
        if (argument === "") {
          notice(toVisibleText(`The model is ${agent.model()}.`));
          return list("models", "models");
        }
        await agent.setModel(argument);
        return notice(toVisibleText(`The model is ${agent.model()}.`));
      case "resume":
        if (argument === "") return list("sessions", "sessions");
        return resume(argument);
      case "clear":
        await agent.clear();
        return dispatch({ type: "cleared" });
      case "exit":
        return leave();
    }
  }

  async function resume(session: string): Promise<void> {
    const messages = await agent.resume(session);
    dispatch({ type: "resumed", messages });
    notice("Resumed. Large results of the conversation are gone.");
  }

  return {
    left,
    state: () => state,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    submit: async (text) => {
      if (state.phase !== "idle") return;
      const wish = readWish(text);
      if (wish.type === "prompt") return turn(text.trim(), (signal) => ask(wish.text, signal));
      if (wish.type === "shell") {
        return turn(
          text.trim(),
          async (signal) => void (await follow(agent.shell(wish.command, { signal }))),
        );
      }
      if (wish.type === "unknown") {
        const hint = wish.nearest.length > 0 ? ` Did you mean /${wish.nearest[0]}?` : "";
        return notice(`Command /${wish.name} not found.${hint} /help lists all.`);
      }
      if (wish.type === "command") {
        await runCommand(wish.command, wish.argument.trim()).catch((error: unknown) =>
          dispatch({ type: "turn-failed", ...toFailure(error) }),
        );
      }
    },
    answer: (answer) => {
      const [first] = state.permissions;
      if (first) agent.answerPermission(first.callId, answer);
    },
    interrupt: () => {
      if (state.phase === "running") {
        const waiting = state.permissions;
        dispatch({ type: "cancel" });
        controller?.abort();
        for (const { callId } of waiting) agent.answerPermission(callId, "deny");
        return;
      }
      if (state.phase === "cancelling" || state.leaving) return leave();
      dispatch({ type: "leave-asked" });
    },
    stay: () => {
      if (state.leaving) dispatch({ type: "leave-forgotten" });
    },
    unfold: () => {
      const { lastTool } = state;
      if (!lastTool) return notice("No tool has been called yet.");
      notice(`${lastTool.tool} ${lastTool.args}\n${lastTool.text ?? ""}`.trimEnd());
    },
  };
}

const HELP: readonly Fact[] = [
  ...COMMANDS.map(({ name, summary }) => ({ name: `/${name}`, text: summary })),
  ...KEYS.map(([name, text]) => ({ name, text })),
];

function cleanFact({ name, text }: Fact): Fact {
  return { name: toVisibleText(name, 200), text: toVisibleText(text, 2_000) };
}

function toFailure(error: unknown): { code: string; message: string; next: string } {
  if (isProblem(error)) return { code: error.code, message: error.message, next: error.next };
  return { code: "UNKNOWN", message: reasonOf(error), next: "Try again; /help lists commands and keys." };
}
