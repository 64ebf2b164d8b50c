import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { expect, onTestFinished } from "vitest";
import { z } from "zod";
import { createMcpSource } from "../src/sources/mcp/mcp-source.ts";
import { verifies } from "./claims.ts";
import { eventually, gatewayOf } from "./upstream-kit.ts";

verifies(
  "upstream:faults",
  "a change stream that ends is opened again, and no change is missed",
  async () => {
    const names = ["first"];
    const handler = createMcpHandler(() => {
      const server = new McpServer({ name: "web", version: "1.0.0" });
      for (const name of names) {
        server.registerTool(name, { description: "Says.", inputSchema: z.object({}) }, () => ({
          content: [],
        }));
      }
      return server;
    });
    const http = createServer(toNodeHandler(handler));
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    const { port } = http.address() as AddressInfo;
    const gateway = gatewayOf([
      createMcpSource("web", { url: `http://127.0.0.1:${port}/` }, { trusted: true }),
    ]);
    onTestFinished(async () => {
      await gateway.close();
      await handler.close();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    });
    const hasTool = async (name: string) => (await gateway.view()).find(`web://tools/${name}`) !== undefined;
    await gateway.ready();
    expect(await hasTool("first")).toBe(true);

    // No notification arrives for this change, because the stream has ended.
    http.closeAllConnections();
    names.push("second");
    await eventually(async () => expect(await hasTool("second")).toBe(true));

    // The new stream reports later changes.
    names.push("third");
    handler.notify.toolsChanged();
    await eventually(async () => expect(await hasTool("third")).toBe(true));
  },
);
