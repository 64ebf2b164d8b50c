import type { Gateway } from "../gateway-api.ts";
import type { JsonSchema } from "../schema/json-schema.ts";
import { createToolbox, type ToolboxOptions } from "../toolbox.ts";

/** A tool in the format of OpenAI's chat completions API, which compatible servers share. */
export interface OpenAITool {
  readonly type: "function";
  readonly function: {
    readonly name: string;
    readonly description: string;
    readonly parameters: JsonSchema;
  };
}

export interface OpenAIToolCall {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
}

export interface OpenAIToolMessage {
  readonly role: "tool";
  readonly tool_call_id: string;
  readonly content: string;
}

/** The tools of a gateway for OpenAI's chat completions. See {@link toOpenAITools}. */
export interface OpenAITools {
  readonly tools: readonly OpenAITool[];
  /** Runs one call of an answer and returns the next message. */
  call(call: OpenAIToolCall, options?: { readonly signal?: AbortSignal }): Promise<OpenAIToolMessage>;
}

/**
 * Creates the tools of a gateway for OpenAI's chat completions. See {@link createToolbox}.
 *
 * @example
 * ```ts
 * import { createGateway, toOpenAITools } from "keyhole";
 *
 * const gateway = createGateway({ domains: [] });
 * const { tools, call } = await toOpenAITools(gateway);
 * const message = await call({ id: "call_1", function: { name: "ask", arguments: '{ "query": "refund" }' } });
 * console.assert(tools.length === 4 && message.role === "tool");
 * await gateway.close();
 * ```
 */
export async function toOpenAITools(gateway: Gateway, options?: ToolboxOptions): Promise<OpenAITools> {
  const toolbox = await createToolbox(gateway, options);
  return {
    tools: toolbox.tools.map(({ name, description, inputSchema }) => ({
      type: "function",
      function: { name, description, parameters: inputSchema },
    })),
    call: async ({ id, function: { name, arguments: text } }, callOptions) => {
      const args = parseArguments(text);
      const content =
        "refusal" in args ? args.refusal : (await toolbox.call(name, args.value, callOptions)).text;
      return { role: "tool", tool_call_id: id, content };
    },
  };
}

/** Parses arguments as a model wrote them, which may not be JSON. */
function parseArguments(text: string): { readonly value: unknown } | { readonly refusal: string } {
  try {
    return { value: text.trim() === "" ? {} : JSON.parse(text) };
  } catch {
    return {
      refusal: "INVALID_INPUT: The arguments are not JSON.\nWrite them as one JSON object and call again.",
    };
  }
}
