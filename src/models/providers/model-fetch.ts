import { problem } from "../../schema/problem.ts";

const MAX_ANSWER_BYTES = 64 * 2 ** 20;

/**
 * The guarded fetch in the shape that the AI SDK calls. A host that the owner configured may be private and
 * without TLS, because local servers are. The guard loads with the first model, not with the settings.
 */
export async function createModelFetch(ownUrl?: string): Promise<typeof globalThis.fetch> {
  const { createGuardedFetch } = await import("../../net/guarded-fetch.ts");
  const guarded = createGuardedFetch(ownUrl ? { ownUrl } : {});
  return async (input, init = {}) => {
    const response = await guarded(input instanceof Request ? input.url : input, {
      method: init.method ?? "GET",
      headers: Object.fromEntries(new Headers(init.headers)),
      ...(typeof init.body === "string" ? { body: init.body } : {}),
      ...(init.signal ? { signal: init.signal } : {}),
    });
    const { status, statusText, headers, body } = response;
    return new Response(body?.pipeThrough(limit()) ?? null, { status, statusText, headers });
  };
}

function limit(): TransformStream<Uint8Array, Uint8Array> {
  let size = 0;
  return new TransformStream({
    transform: (chunk, controller) => {
      size += chunk.byteLength;
      if (size <= MAX_ANSWER_BYTES) return controller.enqueue(chunk);
      const fills = { what: "The answer of the model", actual: `over ${MAX_ANSWER_BYTES} bytes` };
      controller.error(problem("LIMIT_EXCEEDED", { ...fills, limit: MAX_ANSWER_BYTES }));
    },
  });
}
