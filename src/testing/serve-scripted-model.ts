import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { anthropicMessages } from "./model-wire/anthropic-messages.ts";
import { geminiContent } from "./model-wire/gemini-content.ts";
import { openAIChat, openAIResponses } from "./model-wire/openai.ts";
import type { ModelWire, ScriptedReply, ScriptedRequest, WireEvent } from "./model-wire/scripted-exchange.ts";
import { type ModelScript, replyOf } from "./scripted-model.ts";

/** A scripted model behind HTTP. See {@link serveScriptedModel}. */
export interface ServedModel {
  /** Base URL such as `http://127.0.0.1:41234`. Vendors' paths follow it. */
  readonly url: string;
  /** Requests so far, in order. */
  readonly requests: readonly ScriptedRequest[];
  /** Headers of the requests, in the same order. */
  readonly headers: readonly IncomingMessage["headers"][];
  /** Their paths with the query, in the same order. */
  readonly paths: readonly string[];
  close(): Promise<void>;
}

const WIRES: readonly ModelWire[] = [openAIChat, openAIResponses, anthropicMessages, geminiContent];

/**
 * Serves a scripted model on loopback, in the formats of the vendors. See {@link createScriptedModel}.
 *
 * @example
 * ```ts
 * import { serveScriptedModel } from "keyhole/testing";
 *
 * const server = await serveScriptedModel([{ text: "Hello." }]);
 * console.log(`${server.url}/v1/chat/completions`);
 * await server.close();
 * ```
 */
export async function serveScriptedModel(script: ModelScript): Promise<ServedModel> {
  const requests: ScriptedRequest[] = [];
  const headers: IncomingMessage["headers"][] = [];
  const paths: string[] = [];

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? "/", "http://localhost").pathname;
    const wire = WIRES.find((candidate) => candidate.matches(path));
    const given = await text(request);
    if (!wire) return void response.writeHead(404).end();
    const body: unknown = JSON.parse(given);
    const asked = wire.toRequest(body);
    requests.push(asked);
    headers.push(request.headers);
    paths.push(request.url ?? "/");
    const reply = replyOf(script, asked, requests.length - 1);
    if (reply.error) return refuse(wire, reply.error, response);
    if (wire.isStream(body, path)) return stream(wire, reply, requests.length, response);
    if (reply.hangAfter !== undefined) return;
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(wire.toAnswer(reply, requests.length)));
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    headers,
    paths,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function refuse(wire: ModelWire, error: NonNullable<ScriptedReply["error"]>, response: ServerResponse): void {
  response.writeHead(error.status, { "content-type": "application/json", ...error.headers });
  response.end(JSON.stringify(wire.toError(error)));
}

function stream(wire: ModelWire, reply: ScriptedReply, turn: number, response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const events = [...wire.toEvents(reply, turn), ...(wire.lastEvent ? [wire.lastEvent] : [])];
  const sent = events
    .slice(0, reply.breakAfter ?? reply.hangAfter ?? reply.endAfter)
    .map(toText)
    .join("");
  if (reply.hangAfter !== undefined) return void response.write(sent || ":\n\n");
  if (reply.breakAfter === undefined) return void response.end(sent);
  // Events sent before the break must leave first.
  response.write(sent || ":\n\n", () => response.destroy());
}

function toText({ event, data }: WireEvent): string {
  return `${event ? `event: ${event}\n` : ""}data: ${data}\n\n`;
}
