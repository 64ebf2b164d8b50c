import type {
  CallToolResult,
  ContentBlock,
  GetPromptResult,
  ReadResourceResult,
} from "@modelcontextprotocol/client";

/** JSON.parse loses digits of longer numbers. */
const LONG_NUMBER = /\d{16}/;

/** Converts a tool result to a value: structured content, otherwise text, with other content beside it. */
export function toolValue(result: CallToolResult): unknown {
  const content = result.content ?? [];
  const text = textOf(content);
  const other = content.filter(({ type }) => type !== "text").map(describeBlock);
  const structured = wrapsText(result.structuredContent, text) ? undefined : result.structuredContent;
  const main = structured === undefined ? readJson(text) : structured;
  if (other.length === 0) return main;
  if (structured === undefined && text === "") return { blocks: other };
  return { [structured === undefined ? "text" : "structured"]: main, blocks: other };
}

/** Some servers put plain text into one field, because structured content must be a record. */
function wrapsText(structured: unknown, text: string): boolean {
  if (text === "" || typeof structured !== "object" || structured === null) return false;
  let fields = 0;
  for (const field in structured) {
    fields += 1;
    if (fields > 1 || (structured as Readonly<Record<string, unknown>>)[field] !== text) return false;
  }
  return fields === 1;
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

/** Type and size come first, so that a preview shows them. */
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

/** Decoded size of base64 text. */
function decodedBytes(base64: string): number {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  return Math.max(0, Math.floor((base64.length * 3) / 4) - padding);
}

/** Many servers send JSON as text. Parsed, it can be read in parts. */
function readJson(text: string): unknown {
  const start = text.trimStart()[0];
  if ((start !== "{" && start !== "[") || LONG_NUMBER.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
