import { nearest } from "../util/nearest.ts";
import type { Topic } from "./chat-agent.ts";

export interface Command {
  readonly name: string;
  readonly summary: string;
  /** What it lists, where listing is all that it does. */
  readonly topic?: Topic;
}

export const COMMANDS: readonly Command[] = [
  { name: "help", summary: "What can be typed here." },
  { name: "context", summary: "What is in the model's context, and what listing every tool would cost." },
  { name: "tools", summary: "The tools that the agent can reach.", topic: "tools" },
  { name: "skills", summary: "The skills that the agent can load.", topic: "skills" },
  { name: "model", summary: "The models; with a name, answers come from that one." },
  { name: "permissions", summary: "What is allowed, and by which rule.", topic: "permissions" },
  { name: "telemetry", summary: "What is measured, and where it goes.", topic: "telemetry" },
  { name: "resume", summary: "The sessions; with an id, goes on with that one." },
  { name: "clear", summary: "Begins a new conversation." },
  { name: "exit", summary: "Leaves." },
];

/** What a line that was sent asks for. */
export type Wish =
  | { readonly type: "nothing" }
  | { readonly type: "prompt"; readonly text: string }
  | { readonly type: "shell"; readonly command: string }
  | { readonly type: "command"; readonly command: Command; readonly argument: string }
  | { readonly type: "unknown"; readonly name: string; readonly nearest: readonly string[] };

/** Reads what was typed. A slash that starts a path is a prompt: a command is one word of letters. */
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
  ["Enter", "Sends. Alt-Enter, Ctrl-J or \\ and Enter begin a new line."],
  ["Up, Down", "What was sent before."],
  ["Tab", "Completes a command or a file."],
  ["@file", "Includes a file of the project."],
  ["!command", "Runs a command, with the same permissions as the agent."],
  ["Ctrl-O", "Unfolds the last tool call."],
  ["Ctrl-C", "Cancels; twice leaves."],
];
