import type { CallToolResult, GetPromptResult, ReadResourceResult } from "@modelcontextprotocol/server";
import { checkOutside, type Outside, poisonWarning } from "../operations/mark-outside.ts";
import { toVisibleText } from "../util/visible-text.ts";

type Block = CallToolResult["content"][number];
type Contents = ReadResourceResult["contents"][number];

/**
 * Prepares the result of an upstream server's tool: text is made visible, and a warning stands before text that tries
 * to steer a model. Structured content, pictures and bytes are data for programs and stay as they are.
 */
export function visibleResult(result: CallToolResult, source: string, known?: Outside): CallToolResult {
  const outside = known ?? checkOutside(textOf(result.content), source);
  const warning = outside ? poisonWarning(outside).trimEnd() : "";
  const content = result.content.map(visibleBlock);
  return { ...result, content: warning === "" ? content : [{ type: "text", text: warning }, ...content] };
}

export function visiblePrompt({ description, messages, ...rest }: GetPromptResult): GetPromptResult {
  return {
    ...rest,
    ...(description !== undefined && { description: toVisibleText(description) }),
    messages: messages.map((message) => ({ ...message, content: visibleBlock(message.content) })),
  };
}

export function visibleContents<T extends Contents>(contents: T): T {
  return "text" in contents && typeof contents.text === "string"
    ? { ...contents, text: toVisibleText(contents.text) }
    : contents;
}

function visibleBlock(block: Block): Block {
  if (block.type === "text") return { ...block, text: toVisibleText(block.text) };
  if (block.type === "resource") return { ...block, resource: visibleContents(block.resource) };
  if (block.type !== "resource_link") return block;
  const { name, title, description } = block;
  return {
    ...block,
    name: toVisibleText(name),
    ...(title !== undefined && { title: toVisibleText(title) }),
    ...(description !== undefined && { description: toVisibleText(description) }),
  };
}

function textOf(content: readonly Block[]): string {
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}
