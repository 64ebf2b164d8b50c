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
} from "./chat-agent.ts";
import { type ChatBlock, NEW_CHAT, type Picker } from "./chat-state.ts";
import { COMMANDS, KEYS, parseChatInput, type SlashCommand } from "./commands.ts";
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
export type Chat = ReturnType<typeof createChat>;

export function createChat(agent: ChatAgent, options: ChatOptions) {
  const { isFile, past = [] } = options;
  const history = [...(options.history ?? [])];
  const listeners = new Set<() => void>();
  const { promise: left, resolve: leave } = Promise.withResolvers<void>();
  let state = past.length === 0 ? NEW_CHAT : reduce(NEW_CHAT, { type: "resumed", messages: past });
  let controller: AbortController | undefined;

  function dispatch(event: ChatEvent): void {
    state = reduce(state, event);
    for (const listener of listeners) listener();
  }

  const show = (block: ChatBlock) => dispatch({ type: "show", block });
  const notice = (text: string) => show({ kind: "notice", text });
  const fail = (error: unknown) => dispatch({ type: "turn-failed", ...toFailure(error) });
  const refresh = () => dispatch({ type: "set", change: { status: agent.status() } });
  const setPicker = (picker: Picker | undefined) => dispatch({ type: "set", change: { picker } });

  /** Runs one turn. The screen is idle afterwards, whatever happened. */
  async function turn(typed: string, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const abort = new AbortController();
    controller = abort;
    dispatch({ type: "turn-start", prompt: typed });
    try {
      await work(abort.signal);
      dispatch({ type: "turn-end" });
    } catch (error) {
      if (abort.signal.aborted) dispatch({ type: "turn-end" });
      else fail(error);
    }
    controller = undefined;
    refresh();
  }

  function cancelTurn(): void {
    dispatch({ type: "cancel" });
    controller?.abort();
  }

  /** Runs one turn that only shows events. */
  function play(typed: string, start: (options: ChatRunOptions) => AsyncIterable<AgentEvent>): Promise<void> {
    return turn(typed, async (signal) => void (await follow(start({ signal }))));
  }

  async function follow(events: AsyncIterable<AgentEvent>): Promise<AgentEvent | undefined> {
    let last: AgentEvent | undefined;
    for await (const event of events) {
      dispatch(event);
      if (event.type === "llm-end" || event.type === "context-compacted") refresh();
      last = event;
    }
    return last;
  }

  async function ask(prompt: string, signal: AbortSignal): Promise<void> {
    const files: IncludedFile[] = [];
    const images: PromptFile[] = [];
    for (const path of findMentions(prompt)) {
      if (!(await isFile(path))) continue;
      const image = await agent.image(path);
      if (image) {
        images.push(image);
        notice(toVisibleText(`${path}: ${image.about}`));
        continue;
      }
      const last = await follow(agent.read(path, { signal }));
      if (signal.aborted) return;
      if (last?.type === "tool-end" && last.ok) files.push({ path, text: last.text });
    }
    await follow(
      agent.run(withFiles(prompt, files), { signal, ...(images.length > 0 && { files: images }) }),
    );
  }

  function showFacts(name: string, facts: readonly Fact[]): void {
    if (facts.length === 0) notice(EMPTY[name] ?? `No ${name}.`);
    else show({ kind: "facts", facts: facts.map(cleanFact) });
  }

  async function openPicker(kind: Picker["kind"]): Promise<void> {
    const choices = kind === "history" ? sentLines(history) : await agent.choices(kind);
    if (choices.length === 0) notice(EMPTY[kind] ?? `No ${kind}.`);
    else setPicker({ kind, title: PICKER_TITLES[kind], choices });
  }

  async function setModel(name: string): Promise<void> {
    await agent.setModel(name);
    refresh();
    notice(toVisibleText(`The model is ${agent.status().model}.`));
  }

  function setMode(name: string): void {
    const modes: readonly string[] = PERMISSION_MODES;
    if (name === "") nextMode();
    else if (!modes.includes(name)) notice(`Modes: ${modes.join(", ")}.`);
    else agent.setMode(name as PermissionMode);
    refresh();
  }

  /** Goes on to the next mode. */
  function nextMode(): void {
    const at = PERMISSION_MODES.indexOf(agent.status().mode);
    agent.setMode(PERMISSION_MODES[(at + 1) % PERMISSION_MODES.length]!);
    refresh();
  }

  async function resume(session: string): Promise<void> {
    dispatch({ type: "resumed", messages: await agent.resume(session) });
    notice("Resumed. Large results of the conversation are gone.");
  }

  /** Does the work of a picked line, and returns the text for the draft. */
  async function take(kind: Picker["kind"], id: string): Promise<string | undefined> {
    if (kind === "history") return history[Number(id)];
    if (kind === "models") await setModel(id);
    if (kind === "sessions") await resume(id);
    if (kind !== "messages") return undefined;
    const { past: messages, prompt } = await agent.rewind(id);
    dispatch({ type: "resumed", messages });
    notice("Back before that message. Files stay as they are; /undo restores those of the last turn.");
    return prompt;
  }

  /** The slash commands that do more than show a list, by name. */
  const actions: Readonly<Record<string, (argument: string) => unknown>> = {
    help: () => show({ kind: "facts", facts: HELP }),
    context: async () => show({ kind: "context", report: await agent.context() }),
    compact: (focus) => play("/compact", (how) => agent.compact(focus, how)),
    undo: async () => {
      for (const line of await agent.undo()) notice(toVisibleText(line));
    },
    mode: setMode,
    trust: () => play("/trust", (how) => agent.trust(how)),
    mcp: async (argument) => {
      const words = argument.split(/\s+/).filter(Boolean);
      if (words[0] !== "approve" && words[0] !== "allow") return showFacts("mcp", await agent.mcp(words));
      return play(`/mcp ${words.join(" ")}`, (how) => agent.decideServer(words, how));
    },
    init: () => turn("/init", (signal) => ask(INIT_PROMPT, signal)),
    model: (name) => (name === "" ? openPicker("models") : setModel(name)),
    resume: (session) => (session === "" ? openPicker("sessions") : resume(session)),
    rename: async (title) => {
      await agent.rename(title);
      notice(toVisibleText(`The conversation is called ${title}.`));
    },
    export: async (file) => notice(toVisibleText(`Written to ${await agent.exportTo(file)}.`)),
    clear: async () => {
      await agent.clear();
      dispatch({ type: "cleared" });
      refresh();
    },
    exit: () => leave(),
  };

  async function runCommand({ name, topic }: SlashCommand, argument: string): Promise<void> {
    if (topic) showFacts(name, await agent.list(topic));
    else await actions[name]?.(argument);
  }

  refresh();
  return {
    /** Resolves when the person has left. */
    left,
    state: () => state,
    /** Calls the listener after each change. Returns unsubscribe. */
    subscribe: (listener: () => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    /** Lines sent before, oldest first. */
    history: history as readonly string[],
    commands: () => agent.commands(),
    /** Sends a line. Resolves when its work is done; ignored while something runs. `shown` stands for it on the screen. */
    submit: async (text: string, shown = text): Promise<void> => {
      if (state.phase !== "idle") return;
      if (text.trim() !== "" && history.at(-1) !== text) {
        history.push(text);
        options.onSent?.(text);
      }
      const typed = shown.trim();
      const input = parseChatInput(text, agent.commands());
      switch (input.type) {
        case "custom":
          return turn(typed, async (signal) => ask(await agent.expand(input.name, input.argument), signal));
        case "prompt":
          return turn(typed, (signal) => ask(input.text, signal));
        case "shell":
          return play(typed, (how) => agent.shell(input.command, how));
        case "command":
          return runCommand(input.command, input.argument.trim()).catch(fail);
        case "unknown": {
          const hint = input.nearest.length > 0 ? ` Did you mean /${input.nearest[0]}?` : "";
          return notice(`Command /${input.name} not found.${hint} /help lists all.`);
        }
      }
    },
    /** Answers the first question. */
    answer: (answer: ChatAnswer) => {
      const [first] = state.permissions;
      if (first) agent.answerPermission(first.callId, answer);
    },
    /** The card of the first question, if it is one about servers. */
    card: () => {
      const [first] = state.permissions;
      return first && agent.cardOf(first.callId);
    },
    /** Ctrl-C: cancels the running work; a second one leaves. */
    interrupt: () => {
      if (state.phase === "running") {
        const waiting = state.permissions;
        cancelTurn();
        for (const { callId } of waiting) agent.answerPermission(callId, "deny");
        return;
      }
      if (state.phase === "cancelling" || state.leaving) return leave();
      dispatch({ type: "set", change: { leaving: true } });
    },
    /** Resets the first Ctrl-C, so that the next one does not leave. */
    stay: () => {
      if (state.leaving) dispatch({ type: "set", change: { leaving: false } });
    },
    /** Esc: cancels the running work, and nothing else. */
    cancel: () => {
      if (state.phase === "running" && state.permissions.length === 0) cancelTurn();
    },
    nextMode,
    /** Asks whether the folder is trusted. */
    askTrust: () => play("", (how) => agent.trust(how)),
    /** The clipboard as text for the draft; undefined, with a notice, if nothing can be read. */
    paste: async () => {
      const text = await agent.clipboard().catch(() => undefined);
      if (text === undefined) notice(NO_CLIPBOARD);
      return text;
    },
    /** Opens a list of earlier messages, or of lines sent before. */
    open: async (kind: "messages" | "history") => {
      if (state.phase === "idle") await openPicker(kind);
    },
    /** Takes a choice of the open list. Returns the text that belongs into the draft, if any. */
    pick: async ({ id }: Choice): Promise<string | undefined> => {
      const { picker } = state;
      setPicker(undefined);
      if (!picker) return undefined;
      return take(picker.kind, id).catch((error: unknown) => {
        fail(error);
        return undefined;
      });
    },
    closePicker: () => setPicker(undefined),
    /** Shows the last tool call, or the last thinking, whole. */
    unfold: (block: "tool" | "thinking") => {
      const { lastTool, lastThinking } = state;
      if (block === "thinking") return notice(lastThinking ?? "The model has shown no thinking yet.");
      if (!lastTool) return notice("No tool has been called yet.");
      notice(`${lastTool.tool} ${lastTool.args}\n${lastTool.text ?? ""}`.trimEnd());
    },
  };
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
