import type { ServerContext } from "@modelcontextprotocol/server";

type SdkRequest = ServerContext["mcpReq"];

/** A request as Keyhole reads it, whether it came through the SDK or the fast lane. */
export interface Incoming
  extends Pick<SdkRequest, "id" | "method" | "_meta" | "envelope" | "inputResponses" | "requestState"> {
  readonly signal: AbortSignal;
  readonly overHttp: boolean;
  /** Sends a notification that belongs to the request. */
  notify(notification: { method: string; params: Record<string, unknown> }): Promise<void>;
  log: SdkRequest["log"];
}

/** A request that the SDK has read. */
export function fromContext({ mcpReq, http }: ServerContext): Incoming {
  const { id, method, _meta, envelope, inputResponses, requestState, signal, notify, log } = mcpReq;
  return {
    id,
    method,
    _meta,
    envelope,
    inputResponses,
    requestState,
    signal,
    overHttp: http !== undefined,
    notify,
    log,
  };
}
