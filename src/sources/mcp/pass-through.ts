import type { Client, InputResponses, RequestOptions } from "@modelcontextprotocol/client";
import type { CallingClient } from "../../schema/entry.ts";

/** What a server may ask the client behind a call for. */
const ASKABLE = ["elicitation", "sampling", "roots"];

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
 * where results are passed on, a server of the newer protocol may ask it, in rounds.
 */
export async function passThrough(client: Client, caller: CallingClient | undefined): Promise<Passed> {
  if (!caller) return { params: {}, options: {} };
  const onprogress: RequestOptions["onprogress"] = (update) => caller.progress(update);
  if (!caller.passOn || client.getProtocolEra() !== "modern") return { params: {}, options: { onprogress } };
  const { CLIENT_CAPABILITIES_META_KEY } = await import("@modelcontextprotocol/client");
  const { capabilities, responses, state } = caller;
  const askable = Object.entries(capabilities).filter(([name]) => ASKABLE.includes(name));
  return {
    params: {
      _meta: { [CLIENT_CAPABILITIES_META_KEY]: Object.fromEntries(askable) },
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
