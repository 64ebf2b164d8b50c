import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { expect, onTestFinished } from "vitest";
import { createMcpSource } from "../src/sources/mcp/mcp-source.ts";
import { verifies } from "./claims.ts";
import { gatewayOf } from "./upstream-kit.ts";

/** A server that knows only HTTP with SSE, as of 2024-11-05. */
async function serveSse() {
  const streams = new Set<ServerResponse>();
  const seen: (string | undefined)[] = [];
  const http = createServer(async (request, response) => {
    seen.push(request.headers["x-key"] as string | undefined);
    if (request.method === "GET" && request.url === "/sse") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("event: endpoint\ndata: /messages?session=1\n\n");
      streams.add(response);
      return void response.on("close", () => streams.delete(response));
    }
    if (request.method !== "POST" || !request.url?.startsWith("/messages"))
      return void response.writeHead(405).end();
    const { id, method, params } = JSON.parse(await text(request));
    response.writeHead(202).end("Accepted");
    if (id === undefined) return;
    const tool = { name: "greet", inputSchema: { type: "object", properties: { who: { type: "string" } } } };
    const results: Record<string, object> = {
      initialize: {
        protocolVersion: "2024-11-05",
        capabilities: { tools: {} },
        serverInfo: { name: "old", version: "1" },
      },
      "tools/list": { tools: [tool] },
      "tools/call": { content: [{ type: "text", text: `Hello ${params?.arguments?.who}` }] },
    };
    if (params?.arguments?.who === "nobody") return void [...streams].at(-1)?.destroy();
    const error = { code: -32_601, message: "Method not found" };
    const answer = { jsonrpc: "2.0", id, ...(results[method] ? { result: results[method] } : { error }) };
    for (const stream of streams) stream.write(`event: message\ndata: ${JSON.stringify(answer)}\n\n`);
  });
  await new Promise<void>((done) => http.listen(0, "127.0.0.1", done));
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/sse`, seen, streams };
}

verifies("upstream:real", "a server that knows only SSE is used, with or without its type", async () => {
  for (const type of ["sse", undefined] as const) {
    const { url, seen, streams } = await serveSse();
    const headers = { "X-Key": "abc" };
    const source = createMcpSource("old", { ...(type && { type }), url, headers }, { trusted: true });
    const gateway = gatewayOf([source]);
    expect(await gateway.exec({ op: "old.greet", args: { who: "Ann" } })).toMatchObject({
      ok: true,
      result: "Hello Ann",
    });
    expect(new Set(seen)).toEqual(new Set(["abc"]));
    await gateway.close();
    await expect.poll(() => streams.size).toBe(0);
  }
});

verifies(
  "upstream:faults",
  "a call whose event stream ends fails at once, and the next one opens another",
  async () => {
    const { url } = await serveSse();
    const gateway = gatewayOf([createMcpSource("old", { type: "sse", url }, { trusted: true })]);
    onTestFinished(() => gateway.close());
    const lost = await gateway.exec({ op: "old.greet", args: { who: "nobody" } });
    expect(lost).toMatchObject({ ok: false, error: { code: "UPSTREAM_LOST" } });
    expect(await gateway.exec({ op: "old.greet", args: { who: "Bob" } })).toMatchObject({ ok: true });
  },
);
