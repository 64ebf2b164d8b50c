import { nearest } from "../util/nearest.ts";
import type { Topic } from "./chat-agent.ts";

export interface Command {
  readonly name: string;
  readonly summary: string;
  /** The list that the command shows, if it does nothing else. */
  readonly topic?: Topic;
}

export const COMMANDS: readonly Command[] = [
  { name: "help", summary: "Lists commands and keys." },
  { name: "context", summary: "Shows the model's context, and the cost of listing every tool." },
  { name: "tools", summary: "Lists the tools that the agent can reach.", topic: "tools" },
  { name: "skills", summary: "Lists the skills that the agent can load.", topic: "skills" },
  { name: "model", summary: "Shows the model in use; with a name, changes it." },
  { name: "permissions", summary: "Lists the permission rules.", topic: "permissions" },
  { name: "telemetry", summary: "Shows whether telemetry is on, and where it goes.", topic: "telemetry" },
  { name: "resume", summary: "Lists the sessions; with an id, resumes that one." },
  { name: "clear", summary: "Starts a new conversation." },
  { name: "exit", summary: "Leaves the chat." },
];

/** The meaning of a sent line. */
export type Wish =
  | { readonly type: "nothing" }
  | { readonly type: "prompt"; readonly text: string }
  | { readonly type: "shell"; readonly command: string }
  | { readonly type: "command"; readonly command: Command; readonly argument: string }
  | { readonly type: "unknown"; readonly name: string; readonly nearest: readonly string[] };

/** Reads a sent line. A command is a slash and one word of letters; a path is a prompt. */
export function readWish(text: string): Wish {
  const trimmed = text.trim();
  if (trimmed === "") return { type: "nothing" };
  if (trimmed.startsWith("!")) {
    const command = trimmed.slice(1).trim();
    return command === "" ? { type: "nothing" } : { type: "shell", command };
  }
  const slash = /^\/([a-z]+)(?:\s+([\s\S]*))?$/i.exec(trimmed);
  if (!slash) return { type: "prompt", text: trimmed };
  const name = slash[1]!.toLowerCase();
  const command = COMMANDS.find((each) => each.name === name);
  if (command) return { type: "command", command, argument: slash[2] ?? "" };
  const names = COMMANDS.map((each) => each.name);
  return { type: "unknown", name, nearest: nearest(name, names) };
}

export const KEYS: readonly (readonly [keys: string, what: string])[] = [
  ["Enter", "Sends. Alt-Enter, Ctrl-J or \\ and Enter start a new line."],
  ["Up, Down", "Walk through the lines sent before."],
  ["Tab", "Completes a command or a file."],
  ["@file", "Includes a file of the project."],
  ["!command", "Runs a command, with the same permissions as the agent."],
  ["Ctrl-O", "Unfolds the last tool call."],
  ["Ctrl-C", "Cancels; pressed twice, leaves."],
];
