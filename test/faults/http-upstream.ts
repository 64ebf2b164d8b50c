import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import {
  createMcpHandler,
  McpServer,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { z } from "zod";

export const PROTOCOLS = ["modern", "legacy"] as const;
type Protocol = (typeof PROTOCOLS)[number];

/** A server of the SDK over HTTP that counts what it runs. */
export interface HttpUpstream {
  readonly port: number;
  readonly calls: string[];
  close(): Promise<void>;
}

export async function serveUpstream(protocol: Protocol): Promise<HttpUpstream> {
  const calls: string[] = [];
  const handle = HANDLERS[protocol](() => createTools(calls));
  const http = createServer(async (request, response) => {
    const body = await buffer(request);
    const answer = await handle(
      new Request(`http://localhost${request.url}`, {
        method: request.method ?? "GET",
        headers: Object.entries(request.headers).map(([name, value]): [string, string] => [name, `${value}`]),
        ...(body.length > 0 && { body }),
      }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    for await (const part of answer.body ?? []) response.write(part);
    response.end();
  });
  await new Promise<void>((done) => http.listen(0, "127.0.0.1", done));
  return {
    port: (http.address() as AddressInfo).port,
    calls,
    close: async () => {
      http.closeAllConnections();
      await new Promise((done) => http.close(done));
    },
  };
}

function createTools(calls: string[]): McpServer {
  const server = new McpServer({ name: "web", version: "1" });
  const inputSchema = z.object({ nonce: z.string(), bytes: z.number().optional() });
  for (const name of ["read", "write"]) {
    server.registerTool(
      name,
      { description: `${name}s.`, inputSchema, annotations: { readOnlyHint: name === "read" } },
      ({ nonce, bytes = 0 }) => {
        calls.push(`${name} ${nonce}`);
        return { content: [{ type: "text", text: `${nonce}${"x".repeat(bytes)}` }] };
      },
    );
  }
  server.registerTool(
    "flood",
    { description: "Floods.", inputSchema: z.object({ count: z.number() }) },
    async ({ count }, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken ?? 0;
      for (let progress = 1; progress <= count; progress += 1) {
        await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress } });
      }
      return { content: [{ type: "text", text: "flooded" }] };
    },
  );
  return server;
}

type Handler = (request: Request) => Promise<Response>;

const HANDLERS: Readonly<Record<Protocol, (create: () => McpServer) => Handler>> = {
  modern: (create) => {
    const handler = createMcpHandler(create, { legacy: "reject" });
    return (request) => handler.fetch(request);
  },
  legacy: (create) => {
    const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
    return async (request) => {
      const id = request.headers.get("mcp-session-id");
      const known = id === null ? undefined : sessions.get(id);
      if (known) return known.handleRequest(request);
      const transport = new WebStandardStreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (given) => void sessions.set(given, transport),
      });
      await create().connect(transport);
      return transport.handleRequest(request);
    };
  },
};
