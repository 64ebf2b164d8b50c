import type { LanguageModelV4 } from "@ai-sdk/provider";
import { problem } from "../../../base/problems/problem.ts";
import { field, isPlainObject, listOf } from "../../../base/util/plain-object.ts";
import { untilAborted } from "../../../base/util/until-aborted.ts";
import type { ProviderContext } from "./define-provider.ts";

const MAX_ANSWER_BYTES = 64 * 2 ** 20;

type ModelFetchContext = Pick<ProviderContext, "name" | "idleMs">;

/**
 * The guarded fetch in the shape that the AI SDK calls. A host that the owner configured may be private and
 * without TLS, because local servers are. The guard loads with the first model, not with the settings. A server
 * that sends nothing for too long, not even a sign of life, fails with TIMEOUT.
 */
export async function createModelFetch(
  context: ModelFetchContext,
  ownUrl?: string,
): Promise<typeof globalThis.fetch> {
  const { createGuardedFetch } = await import("../../../base/net/guarded-fetch.ts");
  const guarded = createGuardedFetch(ownUrl ? { ownUrl } : {});
  return async (input, init = {}) => {
    const idle = createIdleTimer(context);
    const response = await idle.during(
      guarded(input instanceof Request ? input.url : input, {
        method: init.method ?? "GET",
        headers: Object.fromEntries(new Headers(init.headers)),
        ...(typeof init.body === "string" ? { body: init.body } : {}),
        signal: init.signal ? AbortSignal.any([init.signal, idle.signal]) : idle.signal,
      }),
    );
    const { status, statusText, headers, body } = response;
    const watched = body && ReadableStream.from(readWatched(body, idle));
    return new Response(watched, { status, statusText, headers });
  };
}

interface IdleTimer {
  /** Aborted with TIMEOUT when a wait was too long. */
  readonly signal: AbortSignal;
  /** Waits for the server. The time in which nobody reads does not count. */
  during<T>(work: Promise<T>): Promise<T>;
}

function createIdleTimer({ name, idleMs }: ModelFetchContext): IdleTimer {
  const controller = new AbortController();
  const { signal } = controller;
  return {
    signal,
    during: async (work) => {
      const timeOut = () => controller.abort(problem("TIMEOUT", { name, ms: idleMs }));
      const timer = setTimeout(timeOut, idleMs);
      try {
        return await untilAborted(work, signal);
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

async function* readWatched(
  body: ReadableStream<Uint8Array>,
  idle: IdleTimer,
): AsyncGenerator<Uint8Array, void> {
  const reader = body.getReader();
  let size = 0;
  try {
    while (true) {
      const { done, value } = await idle.during(reader.read());
      if (done) return;
      size += value.byteLength;
      if (size > MAX_ANSWER_BYTES) {
        const fills = { what: "The answer of the model", actual: `over ${MAX_ANSWER_BYTES} bytes` };
        throw problem("LIMIT_EXCEEDED", { ...fills, limit: MAX_ANSWER_BYTES });
      }
      yield value;
    }
  } finally {
    void reader.cancel().catch(() => {});
  }
}

interface CompatibleServer {
  readonly baseUrl: string;
  /** Sent as a bearer token. A function is called for every request. */
  readonly apiKey?: string | (() => Promise<string>);
  readonly headers?: Record<string, string>;
}

/** A model on a server that speaks OpenAI's chat completions. */
export async function createCompatibleModel(
  { baseUrl, ...credentials }: CompatibleServer,
  context: ProviderContext,
): Promise<LanguageModelV4> {
  const { name, model, load } = context;
  const { createOpenAICompatible } = await load(() => import("@ai-sdk/openai-compatible"));
  return createOpenAICompatible({
    name,
    baseURL: withoutEndSlash(baseUrl),
    includeUsage: true,
    // Without it the schema of a structured answer would not be sent.
    supportsStructuredOutputs: true,
    fetch: await createModelFetch(context, baseUrl),
    ...credentials,
  })(model);
}

/** The names in an answer: the texts that its rows have in a field. */
export function namesIn(body: unknown, rowsField = "data", nameField = "id"): string[] {
  const rows = isPlainObject(body) ? body[rowsField] : body;
  const names = listOf(rows).map((row) => field(row, nameField));
  return names.filter((name) => typeof name === "string");
}

export function bearer(key: string | undefined): Record<string, string> {
  return key ? { authorization: `Bearer ${key}` } : {};
}

export function withoutEndSlash(address: string): string {
  return address.replace(/\/+$/, "");
}
