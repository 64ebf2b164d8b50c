import { toVisibleText } from "../../base/safety/visible-text.ts";
import { fieldsOf, textOf } from "../../base/util/plain-object.ts";
import { checkOutside, markOutside } from "../../core/operations/answer-parts.ts";
import type { PromptFile } from "../loop/agent-event.ts";
import type { PromptMessage } from "../tui/chat-agent.ts";

/**
 * The messages of a loaded prompt, with their roles. A server's own words have no mark, because the person chose them
 * as instructions; the documents that it encloses are text of others.
 */
export function toPromptMessages(value: unknown, server: string): PromptMessage[] {
  const { messages } = fieldsOf(value);
  if (!Array.isArray(messages)) {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return [{ role: "user", prompt: toVisibleText(text) }];
  }
  return messages.map((message): PromptMessage => {
    const { role, content } = fieldsOf(message);
    if (typeof content === "string") return { role: roleOf(role), prompt: toVisibleText(content) };
    const image = imageOf(content);
    const about = aboutBlock(content, server);
    // Providers take images of the person alone.
    return role === "assistant" || !image
      ? { role: roleOf(role), prompt: about }
      : { role: "user", prompt: about, files: [image] };
  });
}

function roleOf(role: unknown): PromptMessage["role"] {
  return role === "assistant" ? "assistant" : "user";
}

function imageOf(block: unknown): PromptFile | undefined {
  const { mimeType, data } = fieldsOf(block);
  if (typeof mimeType !== "string" || !mimeType.startsWith("image/") || typeof data !== "string")
    return undefined;
  return { mediaType: mimeType, data };
}

/** A text for a block that is none, as the gateway describes it. */
function aboutBlock(block: unknown, server: string): string {
  const { type, uri, name, mimeType, bytes, text } = fieldsOf(block);
  const what = [name, uri, mimeType, bytes === undefined ? undefined : `${bytes} bytes`]
    .filter((part) => part !== undefined)
    .join(", ");
  const line = toVisibleText(`[${textOf(type) ?? "content"}: ${what}]`);
  return typeof text === "string" ? `${line}\n${markOutside(text, checkOutside(text, server))}` : line;
}
