import type { Client, InputRequests, InputResponses, RequestOptions } from "@modelcontextprotocol/client";
import type { CallingClient } from "../../schema/entry.ts";
import { problem } from "../../schema/problem.ts";

/** What a server that the owner trusts may ask the client behind a call for. Any other may show a form. */
const ASKABLE = ["elicitation", "sampling", "roots"];
/** As the SDK has them, which is not loaded before a server is called, and not asked for again by every call. */
export const CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities";
export const LOG_LEVEL_KEY = "io.modelcontextprotocol/logLevel";

export interface Asking {
  readonly label: string;
  readonly trusted: boolean;
}

interface Passed {
  readonly params: {
    readonly _meta?: Readonly<Record<string, unknown>>;
    readonly inputResponses?: InputResponses;
    readonly requestState?: string;
  };
  readonly options: Pick<RequestOptions, "onprogress" | "allowInputRequired">;
}

/**
 * What goes with a request on behalf of the client behind it: how far the server is goes to that client; and
 * where results are passed on, a server of the newer protocol may ask it, in rounds, and tell it what it logs.
 */
export function passThrough(
  client: Client,
  caller: CallingClient | undefined,
  { trusted }: Pick<Asking, "trusted">,
  meta: Readonly<Record<string, unknown>> = {},
): Passed {
  const params = Object.keys(meta).length > 0 ? { _meta: meta } : {};
  if (!caller) return { params, options: {} };
  const onprogress: RequestOptions["onprogress"] = (update) => caller.progress(update);
  if (!caller.passOn || client.getProtocolEra() !== "modern") return { params, options: { onprogress } };
  const { capabilities, responses, state } = caller;
  const askable = trusted ? Object.entries(capabilities).filter(([name]) => ASKABLE.includes(name)) : [];
  const offered = trusted || !takesForms(capabilities) ? askable : [["elicitation", { form: {} }] as const];
  return {
    params: {
      _meta: {
        ...meta,
        [CAPABILITIES_KEY]: Object.fromEntries(offered),
        // The face leaves out what its client does not listen to.
        [LOG_LEVEL_KEY]: "debug",
      },
      ...(Object.keys(responses).length > 0 && { inputResponses: responses as InputResponses }),
      ...(state !== undefined && { requestState: state }),
    },
    options: { onprogress, allowInputRequired: true },
  };
}

/** Whether the server asks before it answers: its question is the value of this round. */
export function asksFirst(result: object): boolean {
  return "resultType" in result && result.resultType === "input_required";
}

/**
 * The question of a server as the person may be shown it. One that is not trusted is named in what it asks, and
 * asks with forms only: no page to visit, no word to the model, no look at folders.
 */
export function toQuestion<T extends object>(result: T, { label, trusted }: Asking): T {
  const { inputRequests } = result as { inputRequests?: InputRequests };
  if (trusted || !inputRequests) return result;
  const named = Object.entries(inputRequests).map(([key, request]) => {
    const { method, params } = request as { method: string; params?: { mode?: string; message?: unknown } };
    const isForm = method === "elicitation/create" && (params?.mode ?? "form") === "form";
    if (!isForm) {
      const reason = `it asks the client for more than a form (${method}), which only a trusted server may`;
      throw problem("UPSTREAM_ERROR", { server: label, reason }, { server: label });
    }
    const message = `The server ${label} asks: ${String(params?.message ?? "")}`;
    return [key, { method, params: { ...params, message } }];
  });
  return { ...result, inputRequests: Object.fromEntries(named) };
}

/** Hands an error of the protocol over as the server gave it, and throws it on. */
export function passError(caller: CallingClient | undefined): (error: unknown) => never {
  return (error) => {
    const { code, message, data } = error as { code?: unknown; message?: unknown; data?: unknown };
    if (typeof code === "number" && Number.isInteger(code)) {
      caller?.passError?.({ code, message: String(message), ...(data !== undefined && { data }) });
    }
    throw error;
  };
}

/** Clients that say nothing about modes are from before there were any, when forms were all there was. */
function takesForms({ elicitation }: CallingClient["capabilities"]): boolean {
  if (typeof elicitation !== "object" || elicitation === null) return false;
  return "form" in elicitation || !("url" in elicitation);
}
