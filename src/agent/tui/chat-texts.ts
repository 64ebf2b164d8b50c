import { isProblem } from "../../base/problems/problem.ts";
import { toVisibleText } from "../../base/safety/visible-text.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import { count } from "./block-text.ts";
import type { ChatStatus, Fact } from "./chat-agent.ts";
import { type ChatInput, COMMANDS, KEYS } from "./commands.ts";

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

export const INIT_PROMPT = `Look at this project: its manifest, its main folders, how it is built, tested and formatted, and the conventions that its code follows. Then write an AGENTS.md in its root (improve the one that is there): under 60 lines, only facts that an agent needs and cannot see at once: the commands, the layout, the rules. Check each command that you name against the project's files.`;

export const HELP: readonly Fact[] = [
  ...COMMANDS.map(({ name, summary }) => ({ name: `/${name}`, text: summary })),
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
