import type { Gateway } from "../gateway-api.ts";
import { blocksOf } from "../operations/blocks-of.ts";
import type { JsonSchema } from "../schema/json-schema.ts";
import { createToolbox, type ToolAnswer, type ToolboxOptions } from "../toolbox.ts";

/** A tool in the format of Anthropic's messages API. */
export interface AnthropicTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: JsonSchema;
}

export interface AnthropicToolUse {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

export interface AnthropicToolResult {
  readonly type: "tool_result";
  readonly tool_use_id: string;
  /** The text; with images, a list of both. */
  readonly content: string | readonly AnthropicContent[];
  readonly is_error?: true;
}

export type AnthropicContent =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "image";
      readonly source: { readonly type: "base64"; readonly media_type: string; readonly data: string };
    };

/** The tools of a gateway for Anthropic's messages. See {@link toAnthropicTools}. */
export interface AnthropicTools {
  readonly tools: readonly AnthropicTool[];
  /** Runs one `tool_use` block and returns the block for the next user message. */
  call(use: AnthropicToolUse, options?: { readonly signal?: AbortSignal }): Promise<AnthropicToolResult>;
}

/**
 * Creates the tools of a gateway for Anthropic's messages. See {@link createToolbox}.
 *
 * @example
 * ```ts
 * import { createGateway, toAnthropicTools } from "keyhole";
 *
 * const gateway = createGateway({ domains: [] });
 * const { tools, call } = await toAnthropicTools(gateway);
 * const result = await call({ id: "toolu_1", name: "ask", input: { query: "refund" } });
 * console.assert(tools.length === 4 && result.tool_use_id === "toolu_1");
 * await gateway.close();
 * ```
 */
export async function toAnthropicTools(gateway: Gateway, options?: ToolboxOptions): Promise<AnthropicTools> {
  const toolbox = await createToolbox(gateway, options);
  return {
    tools: toolbox.tools.map(({ name, description, inputSchema }) => ({
      name,
      description,
      input_schema: inputSchema,
    })),
    call: async ({ id, name, input }, callOptions) => {
      const answer = await toolbox.call(name, input, callOptions);
      const content = toContent(answer);
      return { type: "tool_result", tool_use_id: id, content, ...(!answer.ok && { is_error: true }) };
    },
  };
}

function toContent({ text, data }: ToolAnswer): AnthropicToolResult["content"] {
  const images = blocksOf(data).flatMap((block): AnthropicContent[] =>
    block.type === "image"
      ? [{ type: "image", source: { type: "base64", media_type: block.mimeType, data: block.data } }]
      : [],
  );
  return images.length === 0 ? text : [{ type: "text", text }, ...images];
}
