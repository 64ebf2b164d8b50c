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
  toAnswer: (reply, turn) => ({
    ...responseOf(turn),
    ...endOf(reply),
    output: itemsOf(reply, turn),
    usage: usageOf(reply),
  }),
  toEvents: (reply, turn) => [
    namedEvent({
      type: "response.created",
      response: { ...responseOf(turn), status: "in_progress", output: [] },
    }),
    ...itemsOf(reply, turn).flatMap((item, index) => itemEvents(item, index)),
    namedEvent({
      type: `response.${endOf(reply).status}`,
      response: {
        ...responseOf(turn),
        ...endOf(reply),
        output: itemsOf(reply, turn),
        usage: usageOf(reply),
      },
    }),
  ],
  toError,
};

type Item =
  | {
      type: "message";
      id: string;
      role: "assistant";
      status: string;
      content: { type: "output_text"; text: string; annotations: [] }[];
    }
  | {
      type: "function_call";
      id: string;
      call_id: string;
      name: string;
      namespace?: string;
      arguments: string;
      status: string;
    };

function itemsOf({ text, calls = [] }: ScriptedReply, turn: number): Item[] {
  const message: Item[] =
    text === undefined
      ? []
      : [
          {
            type: "message",
            id: `msg_${turn}`,
            role: "assistant",
            status: "completed",
            content: [{ type: "output_text", text, annotations: [] }],
          },
        ];
  const functions = calls.map(
    ({ name, namespace, args }, index): Item => ({
      type: "function_call",
      id: `fc_${turn}_${index}`,
      call_id: `call_${turn}_${index}`,
      name,
      ...(namespace !== undefined && { namespace }),
      arguments: JSON.stringify(args),
      status: "completed",
    }),
  );
  return [...message, ...functions];
}

function itemEvents(item: Item, output_index: number) {
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
function endOf({ finish = "stop" }: ScriptedReply) {
  if (finish === "stop") return { status: "completed" };
  const reason = finish === "length" ? "max_output_tokens" : "content_filter";
  return { status: "incomplete", incomplete_details: { reason } };
}

function responseOf(turn: number) {
  return {
    id: `resp_${turn}`,
    object: "response",
    created_at: 0,
    model: "scripted",
    incomplete_details: null,
  };
}

function usageOf({ usage = { input: 0, output: 0 } }: ScriptedReply) {
  return {
    input_tokens: usage.input,
    input_tokens_details: { cached_tokens: usage.cached ?? 0 },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: usage.input + usage.output,
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
        message: { role: "assistant", content: reply.text ?? null, ...callsField(reply, turn) },
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
    const words = wordsOf(reply.text);
    const calls = callsField(reply, turn).tool_calls ?? [];
    return [
      chunk({ role: "assistant", content: "" }),
      ...words.map((content) => chunk({ content })),
      // The vendor sends names first and arguments in pieces.
      ...calls.flatMap((call, index) => [
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

function callsField({ calls = [] }: ScriptedReply, turn: number) {
  if (calls.length === 0) return {};
  return {
    tool_calls: calls.map(({ name, args }, index) => ({
      id: `call_${turn}_${index}`,
      type: "function",
      function: { name, arguments: JSON.stringify(args) },
    })),
  };
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
