import {
  type ModelWire,
  namedEvent,
  type ScriptedMessage,
  type ScriptedReply,
  wordsOf,
} from "./scripted-exchange.ts";

interface AnthropicBlock {
  readonly type: string;
  readonly text?: string;
  readonly name?: string;
  readonly content?: string | readonly AnthropicBlock[];
}

interface AnthropicBody {
  readonly system?: string | readonly AnthropicBlock[];
  readonly messages: readonly {
    readonly role: "user" | "assistant";
    readonly content: string | readonly AnthropicBlock[];
  }[];
  readonly tools?: readonly { readonly name: string }[];
  readonly stream?: boolean;
}

/** Anthropic's Messages API. */
export const anthropicMessages: ModelWire = {
  matches: (path) => path.endsWith("/messages"),
  isStream: (body) => (body as AnthropicBody).stream === true,
  toRequest: (body) => {
    const { system, messages, tools = [] } = body as AnthropicBody;
    const first: ScriptedMessage[] =
      system === undefined ? [] : [{ role: "system", text: textOf(system), calls: [] }];
    return { messages: [...first, ...messages.map(toMessage)], tools: tools.map(({ name }) => name), body };
  },
  toAnswer: (reply, turn) => ({
    ...messageOf(turn),
    content: blocksOf(reply, turn),
    stop_reason: stopOf(reply),
    usage: usageOf(reply),
  }),
  toEvents: (reply, turn) => [
    namedEvent({
      type: "message_start",
      message: { ...messageOf(turn), content: [], usage: usageOf(reply) },
    }),
    ...blocksOf(reply, turn).flatMap(blockEvents),
    namedEvent({
      type: "message_delta",
      delta: { stop_reason: stopOf(reply), stop_sequence: null },
      usage: { output_tokens: reply.usage?.output ?? 0 },
    }),
    namedEvent({ type: "message_stop" }),
  ],
  toError: ({ status, message }) => ({
    type: "error",
    error: { type: TYPES.get(status) ?? "api_error", message },
  }),
};

const TYPES = new Map([
  [401, "authentication_error"],
  [404, "not_found_error"],
  [429, "rate_limit_error"],
  [529, "overloaded_error"],
]);

function blocksOf({ text, calls = [] }: ScriptedReply, turn: number) {
  const uses = calls.map(({ name, args: input }, index) => {
    return { type: "tool_use" as const, id: `toolu_${turn}_${index}`, name, input };
  });
  return text === undefined ? uses : [{ type: "text" as const, text }, ...uses];
}

function blockEvents(block: ReturnType<typeof blocksOf>[number], index: number) {
  const deltas =
    block.type === "text"
      ? wordsOf(block.text).map((text) => ({ type: "text_delta", text }))
      : [{ type: "input_json_delta", partial_json: JSON.stringify(block.input) }];
  const opened = block.type === "text" ? { ...block, text: "" } : { ...block, input: {} };
  return [
    namedEvent({ type: "content_block_start", index, content_block: opened }),
    ...deltas.map((delta) => namedEvent({ type: "content_block_delta", index, delta })),
    namedEvent({ type: "content_block_stop", index }),
  ];
}

function messageOf(turn: number) {
  return { id: `msg_${turn}`, type: "message", role: "assistant", model: "scripted", stop_sequence: null };
}

function stopOf({ calls = [], finish = "stop" }: ScriptedReply): string {
  if (finish !== "stop") return finish === "length" ? "max_tokens" : "refusal";
  return calls.length > 0 ? "tool_use" : "end_turn";
}

function usageOf({ usage = { input: 0, output: 0 } }: ScriptedReply) {
  const { input, output, cached = 0 } = usage;
  return { input_tokens: input - cached, cache_read_input_tokens: cached, output_tokens: output };
}

/** Tool results arrive as separate user messages. */
function toMessage({ role, content }: AnthropicBody["messages"][number]): ScriptedMessage {
  if (typeof content === "string") return { role, text: content, calls: [] };
  const isResult = content.some(({ type }) => type === "tool_result");
  const calls = content.flatMap(({ type, name }) => (type === "tool_use" && name ? [name] : []));
  return { role: isResult ? "tool" : role, text: textOf(content), calls };
}

function textOf(content: string | readonly AnthropicBlock[] | undefined): string {
  if (typeof content === "string") return content;
  const texts = (content ?? []).map((block) => block.text ?? textOf(block.content));
  return texts.filter(Boolean).join("\n");
}
