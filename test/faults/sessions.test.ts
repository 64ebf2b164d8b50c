import { randomUUID } from "node:crypto";
import { Agent, request } from "node:http";
import { text } from "node:stream/consumers";
import { createGateway, defineDomain, defineTool } from "keyhole";
import { createMcpServer, type HttpServer, serveHttp } from "keyhole/mcp";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { isMeasuring } from "../is-measuring.ts";
import { ERAS, type Era } from "../mcp/connect.ts";

const SESSIONS = 1_000;
const CALLS = isMeasuring() ? 20 : 2;

const echo = defineTool({
  name: "get_echo",
  op: "echo.say",
  description: "Says who asked for what.",
  inputSchema: z.object({ nonce: z.string() }),
  execute: async ({ nonce }, { principal }) => {
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 5));
    return `${principal.id}/${nonce}`;
  },
});

async function serve(): Promise<HttpServer> {
  const domain = defineDomain({ name: "echo", description: "Echo.", tools: [echo] });
  const gateway = createGateway({ domains: [domain] });
  const server = createMcpServer(gateway);
  const http = await serveHttp(server, {
    authenticate: async ({ authorization = "" }) => ({ id: authorization, scopes: [], allowWrite: false }),
  });
  onTestFinished(async () => {
    await http.close();
    await server.close();
    await gateway.close();
  });
  return http;
}

interface Answer {
  readonly body: string;
  readonly session: string | undefined;
}

class IdleClosed extends Error {}

/** One client with its own connection. */
class Session {
  readonly id = randomUUID();
  readonly agent = new Agent({ keepAlive: true, maxSockets: 1 });
  #headers: Record<string, string> = {};
  #meta: object = {};
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  async open(era: Era): Promise<void> {
    if (era === "2026-07-28") {
      this.#headers = { "mcp-protocol-version": era, "mcp-method": "tools/call", "mcp-name": "exec" };
      this.#meta = {
        "io.modelcontextprotocol/protocolVersion": era,
        "io.modelcontextprotocol/clientCapabilities": {},
      };
      return;
    }
    const clientInfo = { name: this.id, version: "1" };
    const params = { protocolVersion: era, capabilities: {}, clientInfo };
    const { session } = await this.#post({ id: 0, method: "initialize", params });
    this.#headers = { "mcp-session-id": session ?? "", "mcp-protocol-version": era };
    await this.#post({ method: "notifications/initialized" });
  }

  /** Returns the answer as text. */
  async call(nonce: string): Promise<string> {
    const params = {
      name: "exec",
      arguments: { op: "echo.say", args: { nonce } },
      _meta: this.#meta,
    };
    return (await this.#post({ id: 1, method: "tools/call", params })).body;
  }

  /** Sends again if the server has just closed the idle connection, as clients do. */
  async #post(message: object): Promise<Answer> {
    return this.#send(message).catch((error: unknown) => {
      if (error instanceof IdleClosed) return this.#post(message);
      throw error;
    });
  }

  async #send(message: object): Promise<Answer> {
    const headers = {
      authorization: this.id,
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      ...this.#headers,
    };
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const sent = request(this.#url, { method: "POST", agent: this.agent, headers }, (response) => {
      const session = response.headers["mcp-session-id"];
      const answer = text(response).then((body) => {
        if ((response.statusCode ?? 500) >= 300) throw new Error(`${response.statusCode}: ${body}`);
        return { body, session: typeof session === "string" ? session : undefined };
      });
      answer.then(resolve, reject);
    });
    sent.on("error", (error) => reject(sent.reusedSocket ? new IdleClosed() : error));
    sent.end(JSON.stringify({ jsonrpc: "2.0", ...message }));
    return promise;
  }
}

test.each(ERAS)("sessions, T13: 1,000 at once in %s each get their own answers", async (era) => {
  const { url } = await serve();
  const sessions = Array.from({ length: SESSIONS }, () => new Session(url));
  onTestFinished(() => sessions.forEach(({ agent }) => void agent.destroy()));
  await Promise.all(sessions.map((session) => session.open(era)));
  const failed: string[] = [];
  await Promise.all(
    sessions.map(async (session) => {
      for (let count = 0; count < CALLS; count += 1) {
        const nonce = randomUUID();
        const answer = await session.call(nonce).catch((error: Error) => error.message);
        if (!answer.includes(`${session.id}/${nonce}`)) failed.push(answer);
      }
    }),
  );
  expect(failed.slice(0, 3)).toEqual([]);
});
