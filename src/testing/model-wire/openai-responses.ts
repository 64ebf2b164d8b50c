import type { ModelWire, WireEvent } from "./model-wire.ts";
import type { ScriptedMessage, ScriptedReply, ScriptedRequest } from "./scripted-exchange.ts";

interface Input {
  readonly type?: string;
  readonly role?: string;
  readonly name?: string;
  readonly content?: string | readonly { readonly text?: string }[];
  readonly output?: unknown;
}

interface Body {
  readonly input: readonly Input[];
  readonly tools?: readonly { readonly name?: string }[];
  readonly stream?: boolean;
}

/** OpenAI's Responses API. */
export const openAIResponses: ModelWire = {
  matches: (path) => path.endsWith("/responses"),
  isStream: (body) => (body as Body).stream === true,
  toRequest: (body): ScriptedRequest => {
    const { input, tools = [] } = body as Body;
    return { messages: input.map(toMessage), tools: tools.map(({ name = "" }) => name), body };
  },
  toAnswer: (reply, turn) => ({
    ...responseOf(turn),
    ...endOf(reply),
    output: itemsOf(reply, turn),
    usage: usageOf(reply),
  }),
  toEvents: (reply, turn) => [
    named({ type: "response.created", response: { ...responseOf(turn), status: "in_progress", output: [] } }),
    ...itemsOf(reply, turn).flatMap((item, index) => itemEvents(item, index)),
    named({
      type: `response.${endOf(reply).status}`,
      response: {
        ...responseOf(turn),
        ...endOf(reply),
        output: itemsOf(reply, turn),
        usage: usageOf(reply),
      },
    }),
  ],
  toError: ({ status, message }) => ({
    error: { message, type: "error", code: String(status), param: null },
  }),
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

function itemEvents(item: Item, output_index: number): WireEvent[] {
  const at = { item_id: item.id, output_index };
  const status = "in_progress";
  if (item.type === "function_call") {
    return [
      named({ type: "response.output_item.added", output_index, item: { ...item, arguments: "", status } }),
      named({ type: "response.function_call_arguments.delta", ...at, delta: item.arguments }),
      named({ type: "response.function_call_arguments.done", ...at, arguments: item.arguments }),
      named({ type: "response.output_item.done", output_index, item }),
    ];
  }
  const words = item.content[0]?.text.match(/\S+\s*/g) ?? [];
  return [
    named({ type: "response.output_item.added", output_index, item: { ...item, content: [], status } }),
    ...words.map((delta) => named({ type: "response.output_text.delta", ...at, content_index: 0, delta })),
    named({ type: "response.output_item.done", output_index, item }),
  ];
}

function named(data: { readonly type: string; readonly [field: string]: unknown }): WireEvent {
  return { event: data.type, data: JSON.stringify(data) };
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

function toMessage({ type, role, name, content, output }: Input): ScriptedMessage {
  if (type === "function_call") return { role: "assistant", text: "", calls: name ? [name] : [] };
  if (type === "function_call_output") {
    return { role: "tool", text: typeof output === "string" ? output : JSON.stringify(output), calls: [] };
  }
  const text =
    typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? "").join("\n");
  return { role: role === "developer" ? "system" : (role as ScriptedMessage["role"]), text, calls: [] };
}
