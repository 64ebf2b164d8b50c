import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import type { ReadableStream } from "node:stream/web";
import { setTimeout as sleep } from "node:timers/promises";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";

/** One run of a tool: the call that it belongs to, and the person whose token came with it. */
interface Effect {
  readonly id: string;
  readonly number: number;
  readonly by: string;
}

/** A real MCP server over HTTP that needs a token, and counts what it does by call and by person. */
export interface Till {
  readonly url: string;
  readonly effects: readonly Effect[];
  close(): void;
}

const MOST_PAUSE_MS = 40;
/** Longer than a replica answers after it has said that it is not ready. */
const SLOW_MS = 5_000;
const RECEIPTS = 3_000;

type PersonOf = (authorization: string, url: string) => string | undefined | Promise<string | undefined>;

/** `personOf` tells whose token it is, for this server alone; a request without one of a person gets 401. */
export async function serveTill(personOf: PersonOf): Promise<Till> {
  const effects: Effect[] = [];
  const handlers = new Map<string, ReturnType<typeof createMcpHandler>>();
  const http = createServer(async (request, response) => {
    const by = await personOf(request.headers.authorization ?? "", url);
    if (by === undefined) return void response.writeHead(401, { "www-authenticate": "Bearer" }).end();
    const headers = new Headers(request.headers as Record<string, string>);
    const body = request.method === "POST" ? await buffer(request) : undefined;
    const given = new Request(`http://till${request.url}`, {
      method: request.method ?? "GET",
      headers,
      ...(body && { body: new Uint8Array(body) }),
    });
    const handler = handlers.get(by) ?? createMcpHandler(() => createTools(by, effects));
    handlers.set(by, handler);
    const answer = await handler.fetch(given);
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (!answer.body) return void response.end();
    Readable.fromWeb(answer.body as ReadableStream)
      .on("error", () => response.destroy())
      .pipe(response);
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
  return {
    url,
    effects,
    close: () => {
      http.close();
      http.closeAllConnections();
    },
  };
}

function createTools(by: string, effects: Effect[]): McpServer {
  const server = new McpServer({ name: "till", version: "1" });
  const inputSchema = z.object({ id: z.string() });
  const charge =
    (pauseMs: number) =>
    async ({ id }: z.infer<typeof inputSchema>) => {
      await sleep(Math.random() * MOST_PAUSE_MS);
      const effect = { id, number: effects.length, by };
      effects.push(effect);
      await sleep(pauseMs + Math.random() * MOST_PAUSE_MS);
      return { content: [{ type: "text" as const, text: JSON.stringify(effect) }] };
    };
  const annotations = { destructiveHint: false };
  server.registerTool(
    "create_charge",
    { description: "Charges a card.", inputSchema, annotations },
    charge(0),
  );
  server.registerTool(
    "create_slow",
    { description: "Charges slowly.", inputSchema, annotations },
    charge(SLOW_MS),
  );
  server.registerTool(
    "get_receipt",
    { description: "Gets a receipt.", inputSchema, annotations: { readOnlyHint: true } },
    async ({ id }) => ({ content: [{ type: "text", text: JSON.stringify({ receipt: id, by }) }] }),
  );
  server.registerTool(
    "list_receipts",
    { description: "Lists receipts.", inputSchema, annotations: { readOnlyHint: true } },
    async ({ id }) => {
      const rows = Array.from({ length: RECEIPTS }, (_, row) => ({ receipt: `${id}-${row}`, by }));
      return { content: [{ type: "text", text: JSON.stringify(rows) }] };
    },
  );
  return server;
}
