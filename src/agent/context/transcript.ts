import type { ModelMessage } from "ai";
import { outputText } from "../../ai-sdk/tool-files.ts";
import { cutText } from "../../util/cut-text.ts";

const INDEX_CHARS = 160;

/** Writes messages as text. Each part is cut to `maxChars`, with the number of characters left out. */
export function toTranscript(messages: readonly ModelMessage[], maxChars = Number.POSITIVE_INFINITY): string {
  return messages
    .flatMap((message) => linesOf(message).map(({ who, text }) => `${who}: ${shorten(text, maxChars)}`))
    .join("\n\n");
}

/** One line for each prompt, answer and call: a table of contents for a conversation that is kept elsewhere. */
export function toIndex(messages: readonly ModelMessage[]): string {
  return messages
    .flatMap(linesOf)
    .filter(({ who }) => who !== "Result")
    .map(({ who, text }) => `- ${who}: ${cutText(text.replaceAll(/\s+/g, " ").trim(), INDEX_CHARS)}`)
    .join("\n");
}

interface Line {
  readonly who: "Person" | "Agent" | "Call" | "Result";
  readonly text: string;
}

function linesOf({ role, content }: ModelMessage): Line[] {
  const speaker = role === "assistant" ? "Agent" : "Person";
  if (typeof content === "string") return [{ who: speaker, text: content }];
  return content.flatMap((part): Line[] => {
    if (part.type === "text") return [{ who: speaker, text: part.text }];
    if (part.type === "tool-call")
      return [{ who: "Call", text: `${part.toolName} ${JSON.stringify(part.input)}` }];
    if (part.type === "tool-result") return [{ who: "Result", text: outputText(part.output) }];
    return part.type === "image" || part.type === "file"
      ? [{ who: speaker, text: "(an image or file)" }]
      : [];
  });
}

function shorten(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const half = Math.floor(maxChars / 2);
  const start = cutText(text, half);
  return `${start} […${text.length - 2 * half} characters…] ${text.slice(-half).toWellFormed()}`;
}
