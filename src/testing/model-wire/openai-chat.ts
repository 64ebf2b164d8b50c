import type { ModelWire } from "./model-wire.ts";
import type { ScriptedMessage, ScriptedReply, ScriptedRequest } from "./scripted-exchange.ts";

interface Body {
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
  isStream: (body) => (body as Body).stream === true,
  toRequest: (body): ScriptedRequest => {
    const { messages, tools = [] } = body as Body;
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
    usage: usageOf(reply),
  }),
  toEvents: (reply, turn) => {
    const chunk = (delta: object, finish: string | null = null) => ({
      id: `chatcmpl-${turn}`,
      object: "chat.completion.chunk",
      created: 0,
      model: "scripted",
      choices: [{ index: 0, delta, finish_reason: finish }],
    });
    const words = reply.text?.match(/\S+\s*/g) ?? [];
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
      { ...chunk({}), choices: [], usage: usageOf(reply) },
    ].map((data) => ({ data: JSON.stringify(data) }));
  },
  lastEvent: { data: "[DONE]" },
  toError: ({ status, message }) => ({
    error: { message, type: "error", code: String(status), param: null },
  }),
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

function usageOf({ usage = { input: 0, output: 0 } }: ScriptedReply) {
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

function roleOf(role: string): ScriptedMessage["role"] {
  return role === "developer" ? "system" : (role as ScriptedMessage["role"]);
}

function textOf(content: Body["messages"][number]["content"]): string {
  if (typeof content === "string") return content;
  return (content ?? []).map(({ text = "" }) => text).join("\n");
}

function halves(text: string): [string, string] {
  const middle = text.length >> 1;
  return [text.slice(0, middle), text.slice(middle)];
}
