import type { IncomingHttpHeaders } from "node:http";
import { isJsonContentType, PROTOCOL_VERSION_META_KEY } from "@modelcontextprotocol/server";
import type { Entry } from "../schema/entry.ts";
import type { Principal } from "../schema/principal.ts";
import { problem } from "../schema/problem.ts";
import { type AnswerCall, type CallParts, createAnswerCall } from "./answer-call.ts";
import { NOTHING } from "./call-lane.ts";
import type { Ended } from "./call-native.ts";
import { createEnvelopes } from "./envelopes.ts";
import { wantsHeaders } from "./header-mismatch.ts";
import type { Incoming } from "./incoming.ts";
import { readPlainCall } from "./plain-call.ts";
import { type ServerInfo, toPlainResult } from "./plain-result.ts";
import type { PlainAnswer } from "./post.ts";

/** The fast lane over HTTP, for the newer protocol: one request is one call, and its answer one piece of JSON. */
export interface HttpLane {
  /** The SDK has accepted a call with this envelope. */
  accept(envelope: unknown): void;
  /** Answers a plain call. Undefined for any other request, which has not begun. */
  answer(request: LaneRequest): Promise<LaneAnswer | undefined>;
  /** Cancels the calls that run. */
  close(): void;
}

export interface LaneRequest {
  readonly headers: IncomingHttpHeaders;
  /** The JSON of the request. */
  readonly body: unknown;
  readonly principal: Principal;
  /** Aborted when the client leaves, or the server closes. */
  readonly gone: AbortController;
}

/** The JSON of an answer, or a call that has ended and that only the SDK can answer. */
export type LaneAnswer = PlainAnswer | { readonly ended: Ended };

export function createHttpLane(parts: CallParts, serverInfo: ServerInfo): HttpLane {
  const envelopes = createEnvelopes();
  const running = new Set<AbortController>();
  const answerCall: AnswerCall = createAnswerCall(parts, {
    callerOf: (principal) => parts.listings.for(principal),
    known: () => ({}),
  });

  return {
    accept: envelopes.accept,
    close: () => {
      for (const gone of running) gone.abort(problem("CLOSED"));
    },
    answer: async ({ headers, body, principal, gone }) => {
      const call = readPlainCall(body, "modern", envelopes);
      // Progress turns the answer into a stream.
      if (!call?.meta || call.meta.progressToken !== undefined) return undefined;
      const { id, name, meta } = call;
      const isSaid =
        headers["mcp-protocol-version"] === meta[PROTOCOL_VERSION_META_KEY] &&
        headers["mcp-method"] === "tools/call" &&
        headers["mcp-name"] === name &&
        !name.startsWith("=?") &&
        isJsonContentType(headers["content-type"]);
      if (!isSaid) return undefined;
      const { listing } = await parts.listings.for(principal);
      const entry: Entry | undefined = listing.toolbox.entries.get(name);
      if (entry && wantsHeaders(entry)) return undefined;
      const incoming: Incoming = {
        ...NOTHING,
        overHttp: true,
        id,
        _meta: meta,
        envelope: meta as Incoming["envelope"],
        signal: gone.signal,
        notify: async () => {},
        log: async () => {},
      };
      running.add(gone);
      try {
        const result = await answerCall(call, incoming, principal);
        const plain = toPlainResult(result, "modern", serverInfo);
        if (plain) return { json: JSON.stringify({ result: plain, jsonrpc: "2.0", id }) };
        return { ended: () => result };
      } catch (error) {
        const ended = () => {
          throw error;
        };
        return { ended };
      } finally {
        running.delete(gone);
      }
    },
  };
}
