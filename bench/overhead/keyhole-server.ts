// Keyhole with the echo tool. Arguments: surface, transport, upstream. The upstream is `code` (tool in code), `server`
// (echo server over stdio) or the address of an echo server. Over HTTP it prints its own address.
import { resolve } from "node:path";
import { createGateway, defineDomain, defineTool, type Gateway } from "keyhole";
import { createMcpServer, serveHttp } from "keyhole/mcp";
import { z } from "zod";
import type { Surface } from "../../src/core/surfaces/surface-names.ts";
import { createMcpSource } from "../../src/sources/mcp/mcp-source.ts";

const [surface = "native", transport = "stdio", upstream = "code"] = process.argv.slice(2);
const gateway = upstream === "code" ? inCode() : inFrontOf(upstream);
const server = createMcpServer(gateway, { surface: surface as Surface });
await gateway.ready();

if (transport === "http") {
  // All clients share one token here, so the limits of one caller are raised.
  const limits = { ratePerSecond: 1e6, burst: 1e6, concurrency: 1e6 };
  const http = await serveHttp(server, { token: "benchmark", limits });
  console.log(http.url);
} else {
  server.connect();
  process.stdin.once("close", async () => {
    await server.close();
    await gateway.close();
    process.exit(0);
  });
}
process.on("SIGTERM", () => void gateway.close().then(() => process.exit(0)));

function inFrontOf(address: string): Gateway {
  const config =
    address === "server"
      ? { command: process.execPath, args: [resolve(import.meta.dirname, "echo-server.ts")] }
      : { url: address };
  return createGateway({ domains: [], sources: [createMcpSource("echo", config, { trusted: true })] });
}

function inCode(): Gateway {
  const echo = defineTool({
    name: "get_echo",
    op: "echo.get_echo",
    description: "Says it again.",
    inputSchema: z.object({ text: z.string() }),
    execute: ({ text }) => text,
  });
  return createGateway({
    domains: [defineDomain({ name: "echo", description: "Echo.", tools: [echo] })],
  });
}
