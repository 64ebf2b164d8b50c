import {
  type ModelWire,
  namedEvent,
  type ScriptedMessage,
  type ScriptedReply,
  wordsOf,
} from "./scripted-exchange.ts";

interface ResponsesInput {
  readonly type?: string;
  readonly role?: string;
  readonly name?: string;
  readonly content?: string | readonly { readonly text?: string }[];
  readonly output?: unknown;
}

interface ResponsesBody {
  readonly input: readonly ResponsesInput[];
  readonly tools?: readonly { readonly name?: string }[];
  readonly stream?: boolean;
}

/** OpenAI's Responses API. */
export const openAIResponses: ModelWire = {
  matches: (path) => path.endsWith("/responses"),
  isStream: (body) => (body as ResponsesBody).stream === true,
  toRequest: (body) => {
    const { input, tools = [] } = body as ResponsesBody;
    return { messages: input.map(toMessage), tools: tools.map(({ name = "" }) => name), body };
  },
  toAnswer: toResponse,
  toEvents: (reply, turn) => {
    const response = toResponse(reply, turn);
    const begun = { status: "in_progress", incomplete_details: null, output: [], usage: null };
    return [
      namedEvent({ type: "response.created", response: { ...response, ...begun } }),
      ...response.output.flatMap(itemEvents),
      namedEvent({ type: `response.${response.status}`, response }),
    ];
  },
  toError,
};

function itemsOf({ text, calls = [] }: ScriptedReply, turn: number) {
  const status = "completed";
  const message = {
    type: "message" as const,
    id: `msg_${turn}`,
    role: "assistant",
    status,
    content: [{ type: "output_text", text, annotations: [] }],
  };
  const functions = calls.map(({ name, namespace, args, isSearch }, index) => {
    const [id, call_id] = [`fc_${turn}_${index}`, `call_${turn}_${index}`];
    if (isSearch)
      return { type: "tool_search_call" as const, id, call_id, execution: "client", arguments: args, status };
    return {
      type: "function_call" as const,
      id,
      call_id,
      name,
      ...(namespace !== undefined && { namespace }),
      arguments: JSON.stringify(args),
      status,
    };
  });
  return text === undefined ? functions : [message, ...functions];
}

function itemEvents(item: ReturnType<typeof itemsOf>[number], output_index: number) {
  const at = { item_id: item.id, output_index };
  const status = "in_progress";
  if (item.type === "function_call") {
    return [
      namedEvent({
        type: "response.output_item.added",
        output_index,
        item: { ...item, arguments: "", status },
      }),
      namedEvent({ type: "response.function_call_arguments.delta", ...at, delta: item.arguments }),
      namedEvent({ type: "response.function_call_arguments.done", ...at, arguments: item.arguments }),
      namedEvent({ type: "response.output_item.done", output_index, item }),
    ];
  }
  if (item.type === "tool_search_call")
    return [namedEvent({ type: "response.output_item.done", output_index, item })];
  const words = wordsOf(item.content[0]?.text);
  return [
    namedEvent({ type: "response.output_item.added", output_index, item: { ...item, content: [], status } }),
    ...words.map((delta) =>
      namedEvent({ type: "response.output_text.delta", ...at, content_index: 0, delta }),
    ),
    namedEvent({ type: "response.output_item.done", output_index, item }),
  ];
}

/** The vendor calls an answer that was cut off or filtered incomplete. */
function toResponse(reply: ScriptedReply, turn: number) {
  const { finish = "stop", usage = { input: 0, output: 0 } } = reply;
  const reason = finish === "length" ? "max_output_tokens" : "content_filter";
  return {
    id: `resp_${turn}`,
    object: "response",
    created_at: 0,
    model: "scripted",
    status: finish === "stop" ? "completed" : "incomplete",
    incomplete_details: finish === "stop" ? null : { reason },
    output: itemsOf(reply, turn),
    usage: {
      input_tokens: usage.input,
      input_tokens_details: { cached_tokens: usage.cached ?? 0 },
      output_tokens: usage.output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: usage.input + usage.output,
    },
  };
}

function toMessage({ type, role, name, content, output }: ResponsesInput): ScriptedMessage {
  if (type === "function_call") return { role: "assistant", text: "", calls: name ? [name] : [] };
  if (type === "function_call_output") {
    return { role: "tool", text: typeof output === "string" ? output : JSON.stringify(output), calls: [] };
  }
  return { role: roleOf(role), text: textOf(content), calls: [] };
}

interface ChatBody {
  readonly messages: readonly {
    readonly role: string;
    readonly content?: string | null | readonly { readonly text?: string }[];
    readonly tool_calls?: readonly { readonly function: { readonly name: string } }[];
  }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
  readonly stream?: boolean;
}

/** OpenAI's Chat Completions API, which many servers speak. */
export const openAIChat: ModelWire = {
  matches: (path) => path.endsWith("/chat/completions"),
  isStream: (body) => (body as ChatBody).stream === true,
  toRequest: (body) => {
    const { messages, tools = [] } = body as ChatBody;
    return {
      messages: messages.map(({ role, content, tool_calls = [] }) => ({
        role: roleOf(role),
        text: textOf(content),
        calls: tool_calls.map((call) => call.function.name),
      })),
      tools: tools.map((tool) => tool.function.name),
      body,
    };
  },
  toAnswer: (reply, turn) => ({
    id: `chatcmpl-${turn}`,
    object: "chat.completion",
    created: 0,
    model: "scripted",
    choices: [
      {
        index: 0,
        finish_reason: finishOf(reply),
        message: {
          role: "assistant",
          content: reply.text ?? null,
          ...(reply.calls?.length && { tool_calls: toolCalls(reply, turn) }),
        },
      },
    ],
    usage: chatUsageOf(reply),
  }),
  toEvents: (reply, turn) => {
    const chunk = (delta: object, finish: string | null = null) => ({
      id: `chatcmpl-${turn}`,
      object: "chat.completion.chunk",
      created: 0,
      model: "scripted",
      choices: [{ index: 0, delta, finish_reason: finish }],
    });
    return [
      chunk({ role: "assistant", content: "" }),
      ...wordsOf(reply.text).map((content) => chunk({ content })),
      // The vendor sends names first and arguments in pieces.
      ...toolCalls(reply, turn).flatMap((call, index) => [
        chunk({ tool_calls: [{ index, ...call, function: { name: call.function.name, arguments: "" } }] }),
        ...halves(call.function.arguments).map((part) =>
          chunk({ tool_calls: [{ index, function: { arguments: part } }] }),
        ),
      ]),
      chunk({}, finishOf(reply)),
      { ...chunk({}), choices: [], usage: chatUsageOf(reply) },
    ].map((data) => ({ data: JSON.stringify(data) }));
  },
  lastEvent: { data: "[DONE]" },
  toError,
};

function toolCalls({ calls = [] }: ScriptedReply, turn: number) {
  return calls.map(({ name, args }, index) => ({
    id: `call_${turn}_${index}`,
    type: "function",
    function: { name, arguments: JSON.stringify(args) },
  }));
}

function chatUsageOf({ usage = { input: 0, output: 0 } }: ScriptedReply) {
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cached ?? 0 },
  };
}

function finishOf({ calls = [], finish = "stop" }: ScriptedReply): string {
  if (finish !== "stop") return finish.replace("-", "_");
  return calls.length > 0 ? "tool_calls" : "stop";
}

function roleOf(role: string | undefined): ScriptedMessage["role"] {
  return role === "developer" ? "system" : (role as ScriptedMessage["role"]);
}

function textOf(content: ChatBody["messages"][number]["content"]): string {
  if (typeof content === "string") return content;
  return (content ?? []).map(({ text = "" }) => text).join("\n");
}

function halves(text: string): [string, string] {
  const middle = text.length >> 1;
  return [text.slice(0, middle), text.slice(middle)];
}

function toError({ status, message }: NonNullable<ScriptedReply["error"]>) {
  return { error: { message, type: "error", code: String(status), param: null } };
}
