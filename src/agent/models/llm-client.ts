import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
} from "@ai-sdk/provider";
import { createModel, modelNameOf, serverUrlOf } from "./create-model.ts";
import {
  extractTokenUsage,
  type FinishReason,
  type OutputSchema,
  readOutput,
  type TokenUsage,
  toFinishReason,
  toJsonSchema,
} from "./model-answer.ts";
import { type Attempt, createRetryingModel, type RetryContext, repeatFailing } from "./model-retries.ts";
import { DEFAULT_PROVIDER, type ModelsConfig, type RetryConfig, retryConfigSchema } from "./models-config.ts";
import { createHost, type ProviderHost, type ReadyModel } from "./providers/define-provider.ts";
import {
  type ModelErrorCode,
  type ModelErrorResponse,
  type ModelProblem,
  type ModelResponse,
  modelProblem,
  toErrorResponse,
  toModelProblem,
} from "./providers/model-errors.ts";

/**
 * Creates a client for the model that a config names. The model is made at the first call and kept until its
 * config changes. Calls do not throw; failures are a {@link ModelResponse} too.
 *
 * @example
 * ```ts
 * import { createLLMClient } from "keyhole/models";
 * import { serveScriptedModel } from "keyhole/testing";
 *
 * const server = await serveScriptedModel([{ text: "Bern" }]);
 * const local = { baseUrl: `${server.url}/v1`, model: "phi4" };
 * const client = createLLMClient({ config: { providers: { default: "local", local } } });
 * const answer = await client.invoke("What is the capital of Switzerland?");
 * console.assert(answer.success && answer.result.content === "Bern");
 * await server.close();
 * ```
 */
export function createLLMClient(options: LLMClientOptions): LLMClient {
  const { config, callbacks = {}, retry, random = Math.random } = options;
  const host = createHost(options.host);
  const configNow = () => (typeof config === "function" ? config() : config);
  const providerNow = () => configNow().providers?.default ?? DEFAULT_PROVIDER;
  const onRetry = (context: RetryContext) => notify(() => callbacks.onRetry?.(context));
  const onError = ({ code, message }: ModelProblem) => notify(() => callbacks.onError?.(code, message));
  const serverUrl = () => serverUrlOf(providerNow(), partNow(), host.env);
  const modelName = () => modelNameOf(providerNow(), partNow());
  let latest: { readonly key: string; readonly model: Promise<LanguageModelV4> } | undefined;

  const attempt: Attempt = async (operation, signal) => {
    try {
      const rules = retryConfigSchema.safeParse({ ...configNow().retry, ...retry });
      if (!rules.success)
        throw modelProblem("PROVIDER_NOT_CONFIGURED", "The retry section of the config is invalid.");
      return await repeatFailing(operation, {
        config: rules.data,
        onRetry,
        signal,
        clock: host.clock,
        random,
      });
    } catch (error) {
      onError(error as ModelProblem);
      throw error;
    }
  };

  /** The provider's part of the config. */
  function partNow(): unknown {
    const providers: Readonly<Record<string, unknown>> = configNow().providers ?? {};
    return Object.hasOwn(providers, providerNow()) ? providers[providerNow()] : undefined;
  }

  /** An own provider comes before those of Keyhole. */
  async function makeModel(provider: string, on: ProviderHost): Promise<ReadyModel> {
    const own = Object.hasOwn(options.providers ?? {}, provider) ? options.providers![provider] : undefined;
    return own ? { model: await own(), secrets: () => [] } : createModel(provider, partNow(), on);
  }

  /** Makes the model at the first call and keeps it until its config changes. A failed attempt is not kept. */
  async function modelNow(): Promise<LanguageModelV4> {
    const provider = providerNow();
    const idleMs = configNow().idleTimeoutMs ?? host.idleMs;
    const key = JSON.stringify([provider, partNow(), idleMs]);
    if (latest?.key === key) return latest.model;
    const model = makeModel(provider, { ...host, idleMs }).then((ready) =>
      createRetryingModel(ready, { provider, attempt, now: host.clock.now, onError }),
    );
    const mine = { key, model };
    latest = mine;
    model.catch(() => {
      if (latest === mine) latest = undefined;
    });
    return model;
  }

  /** Calls the model and returns its answer or its failure. */
  async function respond<T>(
    message: string,
    signal: AbortSignal | undefined,
    use: (model: LanguageModelV4) => T | Promise<T>,
  ): Promise<ModelResponse<T>> {
    try {
      return { success: true, result: await use(await attempt(modelNow, signal)), message };
    } catch (error) {
      return failureOf(error);
    }
  }

  function failureOf(error: unknown): ModelErrorResponse {
    return toErrorResponse(
      toModelProblem(error, { provider: providerNow(), secrets: [], now: host.clock.now() }),
    );
  }

  return {
    invoke: <T>(input: LLMInput, callOptions: InvokeOptions<T> = {}) =>
      respond<InvokeResult<T>>(`${providerNow()} answered.`, callOptions.signal, async (model) => {
        const answer = await model.doGenerate(toCall(input, callOptions));
        const content = answer.content.map((part) => (part.type === "text" ? part.text : "")).join("");
        const { output } = callOptions;
        return { content, ...endOf(answer), ...(output && (await readOutput(content, output))) };
      }),
    stream: (input, callOptions = {}) => {
      notify(() => callbacks.onStreamStart?.());
      return respond(`${providerNow()} is answering.`, callOptions.signal, async (model) =>
        toChunks((await model.doStream(toCall(input, callOptions))).stream, callbacks, failureOf),
      );
    },
    languageModel: () => {
      const url = serverUrl();
      return respond(`${modelName()}${url ? ` at ${url}` : ""} is ready.`, undefined, (model) => model);
    },
    getProviderName: providerNow,
    getServerUrl: serverUrl,
    getModelName: modelName,
  };
}

async function* toChunks(
  stream: AsyncIterable<LanguageModelV4StreamPart>,
  callbacks: NonNullable<LLMClientOptions["callbacks"]>,
  failureOf: (error: unknown) => ModelErrorResponse,
): AsyncGenerator<StreamChunk, void> {
  try {
    for await (const part of stream) {
      if (part.type === "error") throw part.error;
      if (part.type === "text-delta") {
        notify(() => callbacks.onStreamChunk?.(part.delta));
        yield { type: "text-delta", text: part.delta };
      } else if (part.type === "finish") {
        const end = endOf(part);
        notify(() => callbacks.onStreamEnd?.(end.usage));
        yield { type: "finish", ...end };
      }
    }
  } catch (error) {
    const { success: _, ...failure } = failureOf(error);
    yield { type: "error", ...failure };
  }
}

/** Options of one call; `output` describes the value to answer with. */
export type InvokeOptions<T> = LLMCallOptions & { readonly output?: OutputSchema<T> };

function toCall<T>(input: LLMInput, options: InvokeOptions<T>): LanguageModelV4CallOptions {
  const { maxTokens, temperature, signal, output } = options;
  return {
    prompt: typeof input === "string" ? [{ role: "user", content: [{ type: "text", text: input }] }] : input,
    ...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(signal ? { abortSignal: signal } : {}),
    ...(output ? { responseFormat: { type: "json", schema: toJsonSchema(output) } } : {}),
  };
}

/** Why an answer ended, and its tokens. */
function endOf({ finishReason, usage }: Pick<LanguageModelV4GenerateResult, "finishReason" | "usage">) {
  const counted = extractTokenUsage(usage);
  return { finishReason: toFinishReason(finishReason.unified), ...(counted && { usage: counted }) };
}

function notify(callback: () => void): void {
  try {
    callback();
  } catch {
    // A callback must not break the call.
  }
}

/** Called as things happen. Errors they throw are ignored. */
export interface LLMCallbacks {
  /** Once for each stream, before the first attempt. */
  readonly onStreamStart?: () => void;
  /** For each piece of text. */
  readonly onStreamChunk?: (chunk: string) => void;
  /** When a stream has ended well. */
  readonly onStreamEnd?: (usage?: TokenUsage) => void;
  /** Once for each failed call, after its retries. */
  readonly onError?: (error: ModelErrorCode, message: string) => void;
  /** Before the wait that precedes each retry. */
  readonly onRetry?: (context: RetryContext) => void;
}

/** Options of {@link createLLMClient}. */
export interface LLMClientOptions {
  /** The config, or a function that is called with each call so that changes take effect. */
  readonly config: ModelsConfig | (() => ModelsConfig);
  readonly callbacks?: LLMCallbacks;
  /** Own providers: each makes a model of the AI SDK. `providers.default` of the config names one of them. */
  readonly providers?: Readonly<Record<string, () => LanguageModelV4 | Promise<LanguageModelV4>>>;
  /** Overrides the config's `retry`. */
  readonly retry?: Partial<RetryConfig>;
  /** The source of jitter, for tests. */
  readonly random?: () => number;
  /** Replaces parts of the machine around a provider, for tests. */
  readonly host?: Partial<ProviderHost>;
}

/** One user message as text, or messages in the format of the AI SDK's models. */
export type LLMInput = string | LanguageModelV4Prompt;

/** Options of one call. */
export interface LLMCallOptions {
  /** Most tokens of the answer. */
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly signal?: AbortSignal;
}

/** A whole answer. */
export interface InvokeResult<T = unknown> {
  readonly content: string;
  readonly finishReason: FinishReason;
  readonly usage?: TokenUsage;
  /** The answer as the requested `output`, if it fits. */
  readonly output?: T;
  /** Why the answer does not fit the requested `output`. The text is in `content`. */
  readonly mismatch?: string;
}

/** A piece of a stream. The last one is `finish` or `error`; a stream does not throw. */
export type StreamChunk =
  | { readonly type: "text-delta"; readonly text: string }
  | { readonly type: "finish"; readonly finishReason: FinishReason; readonly usage?: TokenUsage }
  | ({ readonly type: "error" } & Omit<ModelErrorResponse, "success">);

/** The pieces of a stream, in order. To stop reading cancels the request. */
export type StreamResult = AsyncIterable<StreamChunk>;

/** Calls the model that a config names. No method throws. */
export interface LLMClient {
  /** Returns the whole answer. With `output` the model answers with JSON of that shape. */
  invoke<T = unknown>(input: LLMInput, options?: InvokeOptions<T>): Promise<ModelResponse<InvokeResult<T>>>;
  /** Resolves when the first content arrives. Failures before that are retried. */
  stream(input: LLMInput, options?: LLMCallOptions): Promise<ModelResponse<StreamResult>>;
  /** The model for the AI SDK and the agent, with the same retries. */
  languageModel(): Promise<ModelResponse<LanguageModelV4>>;
  getProviderName(): string;
  /** The address of the provider's server; undefined if it is not known or the config is invalid. */
  getServerUrl(): string | undefined;
  /** The model or deployment that the config names, or the default; undefined if the config is invalid. */
  getModelName(): string | undefined;
}
