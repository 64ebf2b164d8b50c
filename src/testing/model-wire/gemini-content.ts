import { type ModelWire, type ScriptedMessage, type ScriptedReply, wordsOf } from "./scripted-exchange.ts";

interface GeminiPart {
  readonly text?: string;
  readonly functionCall?: { readonly name: string };
  readonly functionResponse?: { readonly response: unknown };
}

interface Declarations {
  readonly functionDeclarations?: readonly { readonly name: string }[];
}

interface GeminiBody {
  readonly systemInstruction?: { readonly parts: readonly GeminiPart[] };
  readonly contents: readonly { readonly role: "user" | "model"; readonly parts: readonly GeminiPart[] }[];
  readonly tools?: Declarations | readonly Declarations[];
}

/** Gemini's generateContent API, plain and streamed. */
export const geminiContent: ModelWire = {
  matches: (path) => /:(?:stream)?generateContent$/i.test(path),
  isStream: (_body, path) => path.endsWith(":streamGenerateContent"),
  toRequest: (body) => {
    const { systemInstruction, contents, tools = [] } = body as GeminiBody;
    const first: ScriptedMessage[] = systemInstruction
      ? [{ role: "system", text: textOf(systemInstruction.parts), calls: [] }]
      : [];
    const declared = [tools].flat().flatMap(({ functionDeclarations = [] }) => functionDeclarations);
    const messages = [...first, ...contents.map(toMessage)];
    return { messages, tools: declared.map(({ name }) => name), body };
  },
  toAnswer: (reply) => answerOf(reply, partsOf(reply), true),
  toEvents: (reply) => {
    const parts = partsOf(reply).flatMap((part): AnswerPart[] =>
      "text" in part ? wordsOf(part.text).map((text) => ({ text })) : [part],
    );
    const answers = parts.map((part) => answerOf(reply, [part], false));
    return [...answers, answerOf(reply, [], true)].map((data) => ({ data: JSON.stringify(data) }));
  },
  toError: ({ status, message }) => ({
    error: { code: status, message, status: STATUSES.get(status) ?? "UNKNOWN" },
  }),
};

const STATUSES = new Map([
  [400, "INVALID_ARGUMENT"],
  [401, "UNAUTHENTICATED"],
  [403, "PERMISSION_DENIED"],
  [404, "NOT_FOUND"],
  [429, "RESOURCE_EXHAUSTED"],
  [500, "INTERNAL"],
  [503, "UNAVAILABLE"],
]);

const FINISHES = { stop: "STOP", length: "MAX_TOKENS", "content-filter": "SAFETY" } as const;

type AnswerPart = { text: string } | { functionCall: { name: string; args: unknown } };

function partsOf({ text, calls = [] }: ScriptedReply): AnswerPart[] {
  return [
    ...(text === undefined ? [] : [{ text }]),
    ...calls.map(({ name, args }) => ({ functionCall: { name, args } })),
  ];
}

/** Only the last answer of a stream says that it is finished. */
function answerOf(
  { usage = { input: 0, output: 0 }, finish = "stop" }: ScriptedReply,
  parts: AnswerPart[],
  isLast: boolean,
) {
  return {
    candidates: [
      { index: 0, content: { role: "model", parts }, ...(isLast ? { finishReason: FINISHES[finish] } : {}) },
    ],
    usageMetadata: {
      promptTokenCount: usage.input,
      candidatesTokenCount: usage.output,
      totalTokenCount: usage.input + usage.output,
      cachedContentTokenCount: usage.cached ?? 0,
    },
    modelVersion: "scripted",
  };
}

function toMessage({ role, parts }: GeminiBody["contents"][number]): ScriptedMessage {
  const calls = parts.flatMap(({ functionCall }) => (functionCall ? [functionCall.name] : []));
  const isResult = parts.some(({ functionResponse }) => functionResponse !== undefined);
  const speaker = role === "model" ? "assistant" : "user";
  return { role: isResult ? "tool" : speaker, text: textOf(parts), calls };
}

function textOf(parts: readonly GeminiPart[]): string {
  const texts = parts.map(
    ({ text, functionResponse }) => text ?? (functionResponse && JSON.stringify(functionResponse.response)),
  );
  return texts.filter(Boolean).join("\n");
}
