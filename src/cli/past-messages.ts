import type { AgentSession } from "../agent/agent.ts";
import type { Choice, PastMessage } from "../tui/chat-agent.ts";

type Content = AgentSession["messages"][number]["content"];

/** The messages of a conversation as the chat shows them again. */
export function pastOf({ messages }: AgentSession): PastMessage[] {
  return messages.flatMap(({ role, content }): PastMessage[] => {
    if (role !== "user" && role !== "assistant") return [];
    const text = role === "user" ? promptOf(content) : textOf(content);
    return text.trim() === "" ? [] : [{ role, text }];
  });
}

/** The prompts of a conversation, by their place among its messages. */
export function promptsOf({ messages }: AgentSession): Choice[] {
  return messages.flatMap(({ role, content }, index): Choice[] => {
    if (role !== "user") return [];
    const text = promptOf(content);
    return text.trim() === "" ? [] : [{ id: String(index), name: text, text: "" }];
  });
}

/** The prompt as it was typed: the first text. Notes and files follow it. */
function promptOf(content: Content): string {
  const [first] = typeof content === "string" ? [{ type: "text", text: content }] : content;
  return first && "text" in first ? first.text : "";
}

function textOf(content: Content): string {
  if (typeof content === "string") return content;
  return content.map((part) => ("text" in part && part.type === "text" ? part.text : "")).join("");
}
