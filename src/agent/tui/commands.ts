import { isProblem } from "../../base/problems/problem.ts";
import { toVisibleText } from "../../base/safety/visible-text.ts";
import { nearest } from "../../base/util/nearest.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import { count } from "./block-text.ts";
import type { ChatStatus, CustomCommand, Fact, PermissionMode, Topic } from "./chat-agent.ts";

export interface SlashCommand {
  readonly name: string;
  readonly summary: string;
  /** Other names for it. */
  readonly aliases?: readonly string[];
  /** The list that the command shows, if it does nothing else. */
  readonly topic?: Topic;
}

export const COMMANDS: readonly SlashCommand[] = [
  { name: "help", summary: "Lists commands and keys." },
  { name: "context", summary: "Shows the tokens of the next request, by cause." },
  { name: "compact", summary: "Summarizes the conversation now; with words, keeps those points." },
  { name: "cost", summary: "Shows tokens and cost of the conversation.", topic: "cost" },
  { name: "undo", summary: "Undoes the changes of files that the last turn made, also by commands." },
  { name: "tools", summary: "Lists the tools that the agent can reach.", topic: "tools" },
  { name: "skills", summary: "Lists the skills that the agent can load.", topic: "skills" },
  { name: "agents", summary: "Lists the sub-agents that a task can name.", topic: "agents" },
  { name: "model", summary: "Picks the model; with a name, changes to it." },
  {
    name: "thinking",
    summary: "Picks how much the model thinks: default, off, low, medium, high; with a level, changes to it.",
  },
  {
    name: "mode",
    summary: "Picks the mode: ask, accept-edits, plan; with a name, changes to it. Shift-Tab does it too.",
  },
  {
    name: "mcp",
    summary:
      "Shows the MCP servers; approve [NAME] asks about those that wait; login or refresh NAME act on one.",
  },
  {
    name: "trust",
    summary: "Shows what this folder would run and tell the model, and asks whether you trust it.",
  },
  { name: "init", summary: "Lets the agent write an AGENTS.md for this folder." },
  { name: "permissions", summary: "Lists the permission rules.", topic: "permissions" },
  { name: "telemetry", summary: "Shows whether telemetry is on, and where it goes.", topic: "telemetry" },
  { name: "resume", summary: "Picks a conversation of this folder; with an id, resumes that one." },
  { name: "rename", summary: "Gives the conversation a title for /resume." },
  { name: "export", summary: "Writes the conversation as Markdown into a new file of this folder." },
  { name: "status", summary: "Shows the model, the mode, the tokens and the cost." },
  { name: "clear", summary: "Starts a new conversation.", aliases: ["new", "reset"] },
  { name: "exit", summary: "Leaves the chat.", aliases: ["quit", "q"] },
];

/** The modes, as the line below the input says them. */
export const MODES: Readonly<Record<PermissionMode, string>> = {
  ask: "asks",
  "accept-edits": "accepts edits",
  plan: "plans, changes nothing",
};

/** How much the model thinks before it answers, from the least to the most. */
export const THINKING_LEVELS: Readonly<Record<string, string>> = {
  default: "as the provider decides",
  off: "answers at once",
  low: "thinks a little",
  medium: "thinks",
  high: "thinks long; costs the most tokens",
};

/** The meaning of a sent line. */
export type ChatInput =
  | { readonly type: "nothing" }
  | { readonly type: "prompt"; readonly text: string }
  | { readonly type: "shell"; readonly command: string }
  | { readonly type: "note"; readonly text: string }
  | { readonly type: "command"; readonly command: SlashCommand; readonly argument: string }
  | { readonly type: "custom"; readonly name: string; readonly argument: string }
  | { readonly type: "unknown"; readonly name: string; readonly nearest: readonly string[] };

/** Reads a sent line. A command is a slash and one word of letters; a path is a prompt. */
export function parseChatInput(text: string, custom: readonly CustomCommand[] = []): ChatInput {
  const trimmed = text.trim();
  if (trimmed === "") return { type: "nothing" };
  if (trimmed === "?") return { type: "command", command: COMMANDS[0]!, argument: "" };
  if (trimmed.startsWith("!")) {
    const command = trimmed.slice(1).trim();
    return command === "" ? { type: "nothing" } : { type: "shell", command };
  }
  // Several lines that begin so are a Markdown text.
  const note = /^# +(\S.*)$/.exec(trimmed)?.[1];
  if (note !== undefined) return { type: "note", text: note };
  const slash = /^\/([\w:.-]+)(?:\s+([\s\S]*))?$/.exec(trimmed);
  if (!slash) return { type: "prompt", text: trimmed };
  const name = slash[1]!.toLowerCase();
  const command = COMMANDS.find((each) => each.name === name || each.aliases?.includes(name));
  if (command) return { type: "command", command, argument: slash[2] ?? "" };
  const argument = slash[2] ?? "";
  const mine = custom.find((each) => each.name.toLowerCase() === name);
  if (mine) return { type: "custom", name: mine.name, argument };
  // Anything else with a dot or a digit may be a file.
  if (!/^[a-z]+(?:[:-][a-z]+)*$/.test(name)) return { type: "prompt", text: trimmed };
  const all: readonly Omit<SlashCommand, "topic">[] = [...COMMANDS, ...custom];
  return { type: "unknown", name, nearest: nearest(name, all.flatMap(namesOf)) };
}

const namesOf = ({ name, aliases = [] }: Omit<SlashCommand, "topic">) => [name, ...aliases];

const KEYS: readonly (readonly [keys: string, what: string])[] = [
  ["?", "Lists commands and keys, as /help does."],
  ["Enter", "Sends. Alt-Enter, Ctrl-J or \\ and Enter start a new line."],
  ["Enter, during a run", "Queues the message: the model gets it after the current tool."],
  ["Alt-Enter, during a run", "Queues the message for the end of the run. Alt-Up takes the last one back."],
  ["Shift-Tab", "Changes the mode: ask, accept edits, plan."],
  ["Up, Down", "Walk through the lines sent before; Ctrl-R picks from them."],
  ["Tab", "Completes a command, a file or a folder; Down and Up choose another, Enter takes it."],
  ["Alt-Left, Alt-Right", "Move by words, as Ctrl with the arrows, Alt-B and Alt-F do."],
  ["@file", "Includes a file of the project, or an image."],
  [
    "Ctrl-V",
    "Pastes the clipboard, also an image. The path of an image, pasted or dropped, includes it too.",
  ],
  ["!command", "Runs a command at once. The model gets it and its output with your next message."],
  ["# note", "Adds the note to the AGENTS.md of the project, or to your own."],
  ["Ctrl-G", "Opens the draft in your editor ($VISUAL, $EDITOR)."],
  ["Ctrl-O, Ctrl-T", "Unfold the last tool call, the last thinking."],
  ["Esc", "Cancels; pressed twice while nothing runs, goes back to an earlier message."],
  ["Ctrl-C", "Cancels; pressed twice, leaves."],
];

/** Commands that change nothing a run depends on, beside those that show a list. */
const AT_ONCE: ReadonlySet<string> = new Set(["help", "context", "mode", "status"]);

/** Whether a line has its effect at once, also during a run. */
export function isAtOnce(input: ChatInput): boolean {
  if (input.type === "command") return input.command.topic !== undefined || AT_ONCE.has(input.command.name);
  return input.type === "shell" || input.type === "unknown" || input.type === "nothing";
}

/** Sentences for lists that are empty. */
export const EMPTY: Readonly<Record<string, string>> = {
  agents:
    "No sub-agents with a role. A file .agents/agents/NAME.md makes one, in this folder or in your home.",
  mcp: "No MCP servers. Outside of the chat, keyhole add adds one, and keyhole connect takes those of other clients over.",
};

export const NO_CLIPBOARD =
  "The clipboard has nothing that can be read here. Linux needs wl-clipboard or xclip; @path includes an image file.";

export const NO_EDITOR =
  "The editor failed, and the draft stays as it was. The variable VISUAL or EDITOR names the editor.";

export const INIT_PROMPT = `Look at this project: its manifest, its main folders, how it is built, tested and formatted, and the conventions that its code follows. Then write an AGENTS.md in its root (improve the one that is there): under 60 lines, only facts that an agent needs and cannot see at once: the commands, the layout, the rules. Check each command that you name against the project's files.`;

export const HELP: readonly Fact[] = [
  ...COMMANDS.map((each) => ({ name: `/${namesOf(each).join(", /")}`, text: each.summary })),
  ...KEYS.map(([name, text]) => ({ name, text })),
];

export function statusFacts({ model, mode, thinking, tokens, window, cost }: ChatStatus): Fact[] {
  return [
    { name: "model", text: model },
    { name: "thinking", text: thinking ?? "as the provider decides" },
    { name: "mode", text: mode },
    {
      name: "tokens",
      text: `${count(tokens)} in the last request${window > 0 ? ` of ${count(window)}` : ""}`,
    },
    { name: "cost", text: cost === undefined ? "no price is known" : `$${cost.toFixed(4)}` },
    { name: "folder", text: process.cwd() },
  ];
}

export function cleanFact({ name, text }: Fact): Fact {
  return { name: toVisibleText(name, 200), text: toVisibleText(text, 2_000) };
}

export function toFailure(error: unknown): { code: string; message: string; next: string } {
  if (isProblem(error)) return { code: error.code, message: error.message, next: error.next };
  return { code: "UNKNOWN", message: reasonOf(error), next: "Try again; /help lists commands and keys." };
}
