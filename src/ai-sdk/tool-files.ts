import type { LanguageModel, ModelMessage, ToolResultPart } from "ai";
import { blocksOf } from "../operations/blocks-of.ts";
import type { ToolAnswer } from "../toolbox.ts";
import { toPlainText } from "../util/plain-text.ts";

type ToolOutput = ToolResultPart["output"];

/** An answer for the model: its text, and its images and files as they are. `tagged` is the form of version 7. */
export function toToolOutput({ ok, text, data }: ToolAnswer, tagged: boolean): ToolOutput {
  if (!ok) return { type: "error-text", value: text };
  const files = blocksOf(data).flatMap((block) => {
    if (block.type === "resource_link") return [];
    const { mimeType = "application/octet-stream" } = block.type === "resource" ? block.resource : block;
    return [{ mediaType: mimeType, data: block.type === "resource" ? block.resource.blob : block.data }];
  });
  if (files.length === 0) return { type: "text", value: text };
  const parts = files.map(({ mediaType, data: base64 }) =>
    tagged
      ? { type: "file" as const, mediaType, data: { type: "data" as const, data: base64 } }
      : { type: "file-data" as const, mediaType, data: base64 },
  );
  return { type: "content", value: [{ type: "text", text }, ...parts] };
}

/** The files of an output, as base64. */
export function outputFiles(output: ToolOutput): { readonly mediaType: string; readonly data: string }[] {
  if (output.type !== "content") return [];
  return output.value.flatMap((part) => {
    if (part.type !== "file" || part.data.type !== "data" || typeof part.data.data !== "string") return [];
    return [{ mediaType: part.mediaType, data: part.data.data }];
  });
}

/** The text of an output. Files are left out. */
export function outputText(output: ToolOutput): string {
  if (output.type === "content")
    return output.value.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  return "value" in output ? toPlainText(output.value) : "";
}

/**
 * The messages as a model can take them. Chat-completions models take no files in tool results: the AI SDK would
 * send them as base64 text.
 */
export function forModel(
  messages: readonly ModelMessage[],
  model: LanguageModel | undefined,
): readonly ModelMessage[] {
  if (typeof model !== "object" || !model.provider.endsWith(".chat")) return messages;
  const hasFiles = messages.some(({ role, content }) => role === "tool" && content.some(isContent));
  if (!hasFiles) return messages;
  return messages.map((message): ModelMessage => {
    if (message.role !== "tool") return message;
    const content = message.content.map((part) =>
      isContent(part) ? { ...part, output: { type: "text" as const, value: outputText(part.output) } } : part,
    );
    return { ...message, content };
  });
}

function isContent(part: object): part is ToolResultPart {
  return "output" in part && (part as ToolResultPart).output.type === "content";
}
