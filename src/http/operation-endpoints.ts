import type { z } from "zod";
import { OPERATIONS, type OperationName } from "../operations/operations.ts";
import { callOperation } from "../toolbox.ts";
import { loadTokenCounter } from "../util/tokens.ts";
import { type ConsoleParts, speaksFor } from "./parts/console-parts.ts";
import type { Endpoint, EndpointCall } from "./parts/endpoint.ts";

/** One endpoint for each operation. Answers are those of the gateway, with the tokens of their text. */
export function operationEndpoints(parts: ConsoleParts): Endpoint[] {
  return Object.entries(OPERATIONS).map(
    ([name, { title, input, output }]): Endpoint => ({
      method: "POST",
      path: `/api/${name}`,
      title: `${title}. The query string may name the principal to speak for: \`as\`.`,
      input: input as z.ZodType,
      output: output as z.ZodType,
      readsInput: true,
      handle: (call) => run(name as OperationName, call, parts),
    }),
  );
}

async function run(operation: OperationName, call: EndpointCall, parts: ConsoleParts): Promise<object> {
  const { request, input, signal } = call;
  const as = new URLSearchParams(request.url?.split("?", 2)[1] ?? "").get("as") ?? undefined;
  const principal = await speaksFor(parts, call.principal, as);
  const { text, data } = await callOperation(
    parts.gateway,
    { operation, input },
    { principal, signal, ...(parts.isPerson(call) && { forPerson: true }) },
  );
  const countTokens = await loadTokenCounter();
  return { ...(data as object), text, tokens: countTokens(text) };
}
