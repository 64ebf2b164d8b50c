import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { expect } from "vitest";
import { createMcpSource } from "../src/sources/mcp/mcp-source.ts";
import { verifies } from "./claims.ts";
import { gatewayOf } from "./upstream-kit.ts";

const MEGABYTE = 1024 * 1024;
const ENDLESS = "endless";

/** A server of the older protocol whose tool returns the requested number of bytes. */
async function serveLarge(as: "json" | "stream") {
  const http = createServer(async (request, response) => {
    if (request.method !== "POST") return void response.writeHead(405).end();
    const message = JSON.parse(await text(request)) as { id?: number; method: string; params: never };
    if (message.id === undefined) return void response.writeHead(202).end();
    const send = (result: object) => {
      const body = JSON.stringify({ jsonrpc: "2.0", id: message.id, result });
      const type = as === "json" ? "application/json" : "text/event-stream";
      response.writeHead(200, { "content-type": type });
      response.end(as === "json" ? body : `event: message\ndata: ${body}\n\n`);
    };
    if (message.method === "initialize") {
      return send({
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "large", version: "1" },
      });
    }
    if (message.method === "tools/list") {
      const inputSchema = { type: "object", properties: { bytes: { type: "integer" } } };
      return send({ tools: [{ name: "fill", description: "Fills.", inputSchema }] });
    }
    if (message.method !== "tools/call") {
      const error = { code: -32_601, message: "Method not found" };
      response.writeHead(200, { "content-type": "application/json" });
      return void response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, error }));
    }
    const { bytes } = (message.params as { arguments: { bytes: number } }).arguments;
    if (bytes > 0) return send({ content: [{ type: "text", text: "x".repeat(bytes) }] });
    response.writeHead(200, { "content-type": "text/event-stream" });
    const pour = () => {
      while (!response.destroyed && response.write(`data: ${ENDLESS.repeat(10_000)}\n`));
    };
    response.on("drain", pour);
    pour();
  });
  await new Promise<void>((done) => http.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    close: () => {
      http.closeAllConnections();
      http.close();
    },
  };
}

for (const as of ["json", "stream"] as const) {
  verifies(
    "upstream:faults",
    `an HTTP answer (${as}) over the size limit is refused, and the next call works`,
    async () => {
      const server = await serveLarge(as);
      const limits = { maxLineBytes: 12 * MEGABYTE, backoffMs: 10 };
      const gateway = gatewayOf([createMcpSource("large", { url: server.url }, { trusted: true, limits })]);
      const fill = (bytes: number) => gateway.exec({ op: "large.fill", args: { bytes } });
      try {
        expect(await fill(11 * MEGABYTE)).toMatchObject({ ok: true });
        const refused = await fill(13 * MEGABYTE);
        expect(refused).toMatchObject({ ok: false, error: { code: "UPSTREAM_LOST" } });
        expect(refused.text).toContain(`it sent a message of more than ${12 * MEGABYTE} bytes`);
        expect(await fill(10)).toMatchObject({ ok: true });
        const poured = await fill(0);
        expect(poured.text).toContain(`it sent a message of more than ${12 * MEGABYTE} bytes`);
        expect(poured.text).not.toContain(ENDLESS);
      } finally {
        await gateway.close();
        server.close();
      }
    },
  );
}
