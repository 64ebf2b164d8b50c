import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { ModelMessage } from "ai";
import { problem } from "../../base/problems/problem.ts";
import { hideSecrets } from "../../base/safety/known-secrets.ts";
import { createRedact } from "../../base/safety/redact.ts";
import { toVisibleText } from "../../base/safety/visible-text.ts";
import { outputText } from "../../faces/ai-sdk/messages.ts";
import type { AgentSession } from "../loop/agent.ts";
import type { Choice, PastMessage } from "../tui/chat-agent.ts";
import { toCodeBlock } from "../tui/mentions.ts";

/** Text that looks like a secret, whoever it belongs to: people pass such files on. */
const redact = createRedact([], { kinds: true });

/**
 * Writes a conversation as Markdown into a new file of the folder, without secrets. Returns its path.
 *
 * @throws INVALID_INPUT if the file exists.
 */
export async function exportChat(
  messages: readonly ModelMessage[],
  { folder, name }: { readonly folder: string; readonly name: string },
): Promise<string> {
  const path = resolve(folder, name);
  await writeFile(path, redact(toVisibleText(hideSecrets(toMarkdown(messages)))), {
    flag: "wx",
    mode: 0o600,
  }).catch((error) => {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    throw problem("INVALID_INPUT", { operation: "/export", reason: `${path} exists; name another file` });
  });
  return path;
}

function toMarkdown(messages: readonly ModelMessage[]): string {
  return `${messages.flatMap(partsOf).join("\n\n")}\n`;
}

function partsOf({ role, content }: ModelMessage): string[] {
  const heading = role === "user" ? "## Person" : "## Keyhole";
  if (typeof content === "string") return content.trim() === "" ? [] : [heading, content.trim()];
  const parts = content.flatMap((part): string[] => {
    if (part.type === "text") return part.text.trim() === "" ? [] : [part.text.trim()];
    if (part.type === "tool-call")
      return [`**${part.toolName}**`, toCodeBlock(JSON.stringify(part.input, null, 2))];
    if (part.type === "tool-result") return [toCodeBlock(outputText(part.output))];
    return part.type === "file" || part.type === "image" ? ["(an image)"] : [];
  });
  return role === "tool" || parts.length === 0 ? parts : [heading, ...parts];
}

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
