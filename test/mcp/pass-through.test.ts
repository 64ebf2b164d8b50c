// The features of an upstream server that reach a client on every surface.
import { resolve } from "node:path";
import { createMcpServer } from "keyhole/mcp";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { SURFACES } from "../../src/core/surfaces/surface-names.ts";
import { createMcpSource } from "../../src/sources/mcp/mcp-source.ts";
import { verifies } from "../claims.ts";
import { eventually, gatewayOf, operator } from "../upstream-kit.ts";
import { connect, ERAS } from "./connect.ts";
import { logsOfCall, SURFACE_CALLS } from "./surface-calls.ts";

const UPSTREAM = { command: process.execPath, args: [resolve("test/rich-upstream.ts")] };

const gateway = gatewayOf([createMcpSource("rich", UPSTREAM, { trusted: true })], { principal: operator });

beforeAll(() => eventually(async () => expect((await gateway.view()).entries).toHaveLength(12), 30_000));
afterAll(() => gateway.close());

describe.each(ERAS)("a client of %s", (era) => {
  describe.each(SURFACES)("on the surface %s", (surface) => {
    const server = createMcpServer(gateway, { surface });
    const call = (tool: string) => SURFACE_CALLS[surface]("rich", tool);
    afterAll(() => server.close());

    verifies("mcp:passed-through", "hears the progress of a server's tool", async () => {
      const { client } = await connect(server, era);
      const told: unknown[] = [];
      const answer = await client.callTool(call("steps"), { onprogress: (update) => told.push(update) });
      expect(JSON.stringify(answer.content)).toContain("Done.");
      const steps = [1, 2, 3].map((step) => expect.objectContaining({ message: `Step ${step}` }));
      expect(told).toEqual(expect.arrayContaining(steps));
      await client.close();
    });

    verifies("mcp:passed-through", "hears the logs of its call, from the level that it wants", async () => {
      const { client } = await connect(server, era);
      const heard = await logsOfCall(client, era, call("say"), "warning");
      expect(heard).toEqual([{ level: "warning", logger: "rich", data: { said: ["this"] } }]);
      await client.close();
    });

    verifies("mcp:passed-through", "reads the view of an app, documents and prompts", async () => {
      const { client } = await connect(server, era);
      const listed = (await client.listResources()).resources.map(({ uri }) => uri);
      expect(listed).toEqual(["rich://notes/1", "ui://rich/panel"]);
      const { contents } = await client.readResource({ uri: "ui://rich/panel" });
      expect(contents[0]).toMatchObject({ mimeType: "text/html;profile=mcp-app" });
      const { messages } = await client.getPrompt({ name: "review", arguments: { what: "this" } });
      expect(messages[0]?.content).toEqual({ type: "text", text: "Review this" });
      await client.close();
    });
  });

  verifies("mcp:passed-through", "that wants no logs is sent none", async () => {
    const server = createMcpServer(gateway);
    const { client, received } = await connect(server, era);
    if (era === "2025-11-25") await client.setLoggingLevel("emergency");
    await client.callTool(SURFACE_CALLS.lanes("rich", "say"));
    expect(received.filter((message) => message.includes("notifications/message"))).toEqual([]);
    await server.close();
  });
});
