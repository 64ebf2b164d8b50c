import type {
  CallToolResult,
  ContentBlock,
  GetPromptResult,
  ReadResourceResult,
} from "@modelcontextprotocol/client";

/** Numbers of this length lose digits when JSON is read. */
const LONG_NUMBER = /\d{16}/;

/** What a tool returned as a value: structured content first, else text; what is not text comes beside it. */
export function toolValue(result: CallToolResult): unknown {
  const content = result.content ?? [];
  const text = textOf(content);
  const other = content.filter(({ type }) => type !== "text").map(describeBlock);
  const main = result.structuredContent === undefined ? readJson(text) : result.structuredContent;
  if (other.length === 0) return main;
  if (result.structuredContent === undefined && text === "") return { blocks: other };
  return { [result.structuredContent === undefined ? "text" : "structured"]: main, blocks: other };
}

export function textOf(content: readonly ContentBlock[]): string {
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

export function resourceValue({ contents }: ReadResourceResult): unknown {
  const [first] = contents;
  if (contents.length === 1 && first && "text" in first) return first.text;
  return contents.map(describeContents);
}

export function promptValue({ description, messages }: GetPromptResult): unknown {
  return {
    ...(description !== undefined && { description }),
    messages: messages.map(({ role, content }) => ({
      role,
      content: content.type === "text" ? content.text : describeBlock(content),
    })),
  };
}

/** Type and size come first, so that a preview shows them where the data does not fit. */
function describeBlock(block: ContentBlock): unknown {
  if (block.type === "image" || block.type === "audio") {
    return { type: block.type, mimeType: block.mimeType, bytes: decodedBytes(block.data), data: block.data };
  }
  if (block.type === "resource") return { type: "resource", ...describeContents(block.resource) };
  if (block.type === "text") return { type: "text", text: block.text };
  const { _meta, ...link } = block;
  return link;
}

function describeContents(contents: ReadResourceResult["contents"][number]) {
  const { uri, mimeType } = contents;
  const common = { uri, ...(mimeType !== undefined && { mimeType }) };
  if ("text" in contents) return { ...common, text: contents.text };
  return { ...common, bytes: decodedBytes(contents.blob), data: contents.blob };
}

/** The size of what the base64 text stands for. */
function decodedBytes(base64: string): number {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  return Math.max(0, Math.floor((base64.length * 3) / 4) - padding);
}

/** Many servers send JSON as text; as a value it can be read by parts. */
function readJson(text: string): unknown {
  const start = text.trimStart()[0];
  if ((start !== "{" && start !== "[") || LONG_NUMBER.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
