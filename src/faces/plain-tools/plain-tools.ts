import type { StructuredToolInterface } from "@langchain/core/tools";
import type { JsonSchema } from "../../base/json-schema/json-schema.ts";
import { problem } from "../../base/problems/problem.ts";
import { blocksOf } from "../../core/answers/content.ts";
import { impliedLane } from "../../core/catalog/tool-lane.ts";
import type { DomainDefinition } from "../../core/nouns/definition.ts";
import type { CallContext } from "../../core/nouns/entry.ts";
import type { Gateway } from "../../gateway/gateway-api.ts";
import { createToolbox, type ToolAnswer, type ToolboxOptions } from "../../gateway/toolbox.ts";

/** A tool in the format of OpenAI's chat completions API, which compatible servers share. */
export interface OpenAITool {
  readonly type: "function";
  readonly function: {
    readonly name: string;
    readonly description: string;
    readonly parameters: JsonSchema;
  };
}

/** A tool call as OpenAI's API has it. */
export interface OpenAIToolCall {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
}

/** The message that answers a tool call. */
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

/** The domain that {@link fromOpenAITools} makes: any of its fields but the tools, and one function that runs them. */
export interface OpenAIToolsDomain extends Omit<DomainDefinition, "tools"> {
  /** Ops of tools whose names do not tell them: `{ search_ontology: "onto.search" }`. */
  readonly ops?: Readonly<Record<string, string>>;
  /** Runs a tool by its function name. */
  execute(name: string, args: Record<string, unknown>, context: CallContext): unknown;
}

/**
 * Makes a domain of a list of chat tools, as OpenAI's API has them. Ops and lanes come from the names: `list_onto_tasks`
 * in the domain `onto` is `onto.task.list` and reads; a name without a known verb writes. See {@link toOpenAITools}.
 *
 * @example
 * ```ts
 * import { createGateway, fromOpenAITools } from "keyhole";
 *
 * const parameters = { type: "object", properties: { limit: { type: "integer" } } };
 * const listTasks = { name: "list_onto_tasks", description: "List tasks.", parameters };
 * const onto = fromOpenAITools([{ type: "function", function: listTasks }], {
 *   name: "onto",
 *   description: "Projects and tasks.",
 *   execute: (name, args) => ({ name, args }),
 * });
 * const gateway = createGateway({ domains: [onto] });
 * const answer = await gateway.exec({ op: "onto.task.list", args: { limit: 5 } });
 * console.assert(answer.ok);
 * await gateway.close();
 * ```
 */
export function fromOpenAITools(
  tools: readonly OpenAITool[],
  { ops = {}, execute, ...domain }: OpenAIToolsDomain,
): DomainDefinition {
  return {
    ...domain,
    tools: tools.map(({ function: { name, description, parameters } }) => ({
      name,
      description,
      ...(parameters && { inputSchema: parameters }),
      ...(Object.hasOwn(ops, name) && { op: ops[name]! }),
      lane: impliedLane({ name, inputSchema: parameters }, { isOwn: true }),
      execute: (args: Record<string, unknown>, context: CallContext) => execute(name, args, context),
    })),
  };
}

/** A tool in the format of Anthropic's messages API. */
interface AnthropicTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: JsonSchema;
}

/** A tool call as Anthropic's API has it. */
export interface AnthropicToolUse {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

/** The result of a tool call for the next message. */
export interface AnthropicToolResult {
  readonly type: "tool_result";
  readonly tool_use_id: string;
  /** The text; with images, a list of both. */
  readonly content: string | readonly AnthropicContent[];
  readonly is_error?: true;
}

type AnthropicContent =
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

/**
 * Creates the tools of a gateway for LangChain. Needs the package `@langchain/core`. See {@link createToolbox}.
 *
 * @throws PACKAGE_MISSING without `@langchain/core`
 * @example
 * ```ts no-run
 * import { createGateway, toLangChainTools } from "keyhole";
 *
 * const gateway = createGateway({ domains: [] });
 * const tools = await toLangChainTools(gateway);
 * console.log(tools.map((tool) => tool.name));
 * ```
 */
export async function toLangChainTools(
  gateway: Gateway,
  options?: ToolboxOptions,
): Promise<StructuredToolInterface[]> {
  const { DynamicStructuredTool } = await import("@langchain/core/tools").catch(() => {
    throw problem("PACKAGE_MISSING", { name: "@langchain/core", feature: "toLangChainTools" });
  });
  const toolbox = await createToolbox(gateway, options);
  return toolbox.tools.map(
    ({ name, description, inputSchema }) =>
      new DynamicStructuredTool({
        name,
        description,
        schema: inputSchema as Record<string, unknown>,
        func: async (args, _run, config) => {
          const answer = await toolbox.call(name, args, config?.signal && { signal: config.signal });
          const images = blocksOf(answer.data).flatMap((block) =>
            block.type === "image" ? [`data:${block.mimeType};base64,${block.data}`] : [],
          );
          if (images.length === 0) return answer.text;
          const parts = images.map((url) => ({ type: "image_url", image_url: { url } }));
          return [{ type: "text", text: answer.text }, ...parts];
        },
      }),
  );
}
