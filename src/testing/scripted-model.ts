import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
} from "@ai-sdk/provider";
import {
  type ScriptedMessage,
  type ScriptedReply,
  type ScriptedRequest,
  wordsOf,
} from "./model-wire/scripted-exchange.ts";

/**
 * The answers of a scripted model: a list of them, or a function that chooses one. `turn` counts requests from 0.
 * After the end of a list, the model answers with a text that says so.
 */
export type ModelScript =
  | readonly ScriptedReply[]
  | ((request: ScriptedRequest, turn: number) => ScriptedReply);

/** The answer of a script to a request. */
export function replyOf(script: ModelScript, request: ScriptedRequest, turn: number): ScriptedReply {
  if (typeof script === "function") return script(request, turn);
  return script[turn] ?? { text: `The script has no reply to request ${turn + 1}.` };
}

/** A model that follows a script and records its requests. */
export interface ScriptedModel extends LanguageModelV4 {
  /** Requests so far, in order. */
  readonly requests: readonly ScriptedRequest[];
}

/**
 * Creates a model for the AI SDK that follows a script and records its requests. See {@link serveScriptedModel}.
 *
 * @example
 * ```ts
 * import { generateText } from "ai";
 * import { createScriptedModel } from "keyhole/testing";
 *
 * const model = createScriptedModel([{ text: "Hello." }]);
 * const { text } = await generateText({ model, prompt: "Hi" });
 * console.assert(text === "Hello." && model.requests.length === 1);
 * ```
 */
export function createScriptedModel(script: ModelScript): ScriptedModel {
  const requests: ScriptedRequest[] = [];
  const answer = (options: LanguageModelV4CallOptions): ScriptedReply => {
    const request = toRequest(options);
    requests.push(request);
    return replyOf(script, request, requests.length - 1);
  };
  return {
    requests,
    specificationVersion: "v4",
    provider: "scripted",
    modelId: "scripted",
    supportedUrls: {},
    doGenerate: async (options) => {
      const reply = answer(options);
      return {
        content: [
          ...(reply.text === undefined ? [] : [{ type: "text" as const, text: reply.text }]),
          ...callsOf(reply),
        ],
        ...endOf(reply),
        warnings: [],
      };
    },
    doStream: async (options) => {
      const reply = answer(options);
      return { stream: ReadableStream.from(partsOf(reply)) };
    },
  };
}

function* partsOf(reply: ScriptedReply): Generator<LanguageModelV4StreamPart> {
  yield { type: "stream-start", warnings: [] };
  if (reply.text !== undefined) {
    yield { type: "text-start", id: "text" };
    for (const delta of wordsOf(reply.text)) yield { type: "text-delta", id: "text", delta };
    yield { type: "text-end", id: "text" };
  }
  yield* callsOf(reply);
  yield { type: "finish", ...endOf(reply) };
}

/** Call ids are unique across models. */
let calls = 0;

function callsOf({ calls: wanted = [] }: ScriptedReply) {
  return wanted.map(({ name, args }) => ({
    type: "tool-call" as const,
    toolCallId: `call_${++calls}`,
    toolName: name,
    input: JSON.stringify(args),
  }));
}

function endOf({ calls = [], usage = { input: 0, output: 0 }, finish = "stop" }: ScriptedReply) {
  const { input, output, cached = 0 } = usage;
  return {
    finishReason: { unified: calls.length > 0 ? ("tool-calls" as const) : finish, raw: finish },
    usage: {
      inputTokens: { total: input, noCache: input - cached, cacheRead: cached, cacheWrite: undefined },
      outputTokens: { total: output, text: output, reasoning: undefined },
    },
  };
}

function toRequest(options: LanguageModelV4CallOptions): ScriptedRequest {
  const messages = options.prompt.map(({ role, content }): ScriptedMessage => {
    if (typeof content === "string") return { role, text: content, calls: [] };
    const texts = content.flatMap((part) => {
      if (part.type === "text") return [part.text];
      if (part.type !== "tool-result" || !("value" in part.output)) return [];
      const { value } = part.output;
      return [typeof value === "string" ? value : JSON.stringify(value)];
    });
    const calls = content.flatMap((part) => (part.type === "tool-call" ? [part.toolName] : []));
    return { role, text: texts.join("\n"), calls };
  });
  return { messages, tools: (options.tools ?? []).map(({ name }) => name), body: options };
}
