import type { AskText, ChatAgent, Choice, PastMessage, PermissionMode, PickTopic } from "./chat-agent.ts";
import type { Picker } from "./chat-state.ts";
import { MODES, THINKING_LEVELS } from "./commands.ts";

/** The part of a chat that a choice acts on. */
export interface PickHost {
  readonly agent: ChatAgent;
  /** Lines sent before, oldest first. */
  readonly history: readonly string[];
  readonly askText: AskText;
  notice(text: string): void;
  /** Shows the status anew. */
  refresh(): void;
  showPast(messages: readonly PastMessage[]): void;
  open(kind: Picker["kind"], about: string): Promise<void>;
}

interface Pick {
  readonly title: string;
  /** The sentence for a list without lines. */
  readonly empty: string;
  /** A short list, in which a digit picks too. */
  readonly numbered?: true;
  choices(host: PickHost, about: string): Promise<readonly Choice[]>;
  /** Does the work of a choice. Returns the text that belongs into the draft, if any. */
  take(host: PickHost, id: string, about: string): Promise<unknown>;
}

const fromAgent =
  (topic: PickTopic): Pick["choices"] =>
  ({ agent }, about) =>
    agent.choices(topic, about);

/** The lists that a chat offers. */
export const PICKS: Readonly<Record<Picker["kind"], Pick>> = {
  models: {
    title: "Model:",
    empty: "No models.",
    choices: fromAgent("models"),
    take: async (host, id) => {
      await host.agent.setModel(id, host.askText);
      host.refresh();
      host.notice(`The model is ${host.agent.status().model}.`);
    },
  },
  thinking: oneOf(
    "Thinking:",
    THINKING_LEVELS,
    ({ agent }) => agent.status().thinking ?? "default",
    ({ agent }, id) => agent.setThinking(id),
  ),
  modes: oneOf(
    "Mode:",
    MODES,
    ({ agent }) => agent.status().mode,
    ({ agent }, id) => agent.setMode(id as PermissionMode),
  ),
  sessions: {
    title: "Conversation:",
    empty: "No earlier conversation of this folder is kept.",
    choices: fromAgent("sessions"),
    take: async (host, id) => {
      host.showPast(await host.agent.resume(id));
      host.notice("Resumed. Large results of the conversation are gone.");
    },
  },
  history: {
    title: "Sent before:",
    empty: "No line was sent yet.",
    choices: async ({ history }) =>
      history.map((line, index) => ({ id: String(index), name: line, text: "" })).reverse(),
    take: async ({ history }, id) => history[Number(id)],
  },
  messages: {
    title: "Go back to before:",
    empty: "Nothing was sent yet in this conversation.",
    choices: fromAgent("messages"),
    take: async (host, id) => {
      const ways = await host.agent.choices("rewind", id);
      return ways.length > 0 ? host.open("rewind", id) : goBack(host, id, "conversation");
    },
  },
  rewind: {
    title: "Restore:",
    empty: "",
    numbered: true,
    choices: fromAgent("rewind"),
    take: (host, id, message) => goBack(host, message, id),
  },
  notes: {
    title: "Add the note to:",
    empty: "",
    numbered: true,
    choices: fromAgent("notes"),
    take: async (host, id, note) => host.notice(await host.agent.addNote(id, note)),
  },
};

/** A few settings that exclude each other. */
function oneOf(
  title: string,
  texts: Readonly<Record<string, string>>,
  now: (host: PickHost) => string,
  set: (host: PickHost, id: string) => void,
): Pick {
  return {
    title,
    empty: "",
    numbered: true,
    choices: async (host) =>
      Object.entries(texts).map(([id, text]) => ({
        id,
        name: id,
        text: id === now(host) ? `${text}; in use` : text,
      })),
    take: async (host, id) => {
      if (!Object.hasOwn(texts, id)) return host.notice(`${title} ${Object.keys(texts).join(", ")}.`);
      set(host, id);
      host.refresh();
    },
  };
}

/** Goes back to before a message. Returns its text for the draft, unless the conversation stays. */
async function goBack(host: PickHost, message: string, what: string): Promise<string | undefined> {
  const { past, prompt, lines } = await host.agent.rewind(message, what);
  if (past) host.showPast(past);
  for (const line of lines) host.notice(line);
  if (!past) return undefined;
  host.notice(
    lines.length > 0 ? "Back before that message." : "Back before that message. Files stay as they are.",
  );
  return prompt;
}
