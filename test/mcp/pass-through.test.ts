// The features of an upstream server that reach a client through Keyhole's own tools. `native` has its own tests.
import { resolve } from "node:path";
import { LOG_LEVEL_META_KEY } from "@modelcontextprotocol/client";
import { createMcpServer } from "keyhole/mcp";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { createMcpSource } from "../../src/sources/mcp/mcp-source.ts";
import { verifies } from "../requirements.ts";
import { eventually, gatewayOf, operator } from "../upstream-kit.ts";
import { connect, ERAS } from "./connect.ts";

const UPSTREAM = { command: process.execPath, args: [resolve("test/rich-upstream.ts")] };

/** Calls a tool of the server with the words of a surface. */
const CALLS = {
  lanes: (tool: string) => ({ name: "exec", arguments: { op: `rich.${tool}` } }),
  routes: (tool: string) => ({ name: "get", arguments: { routes: [`rich://tools/${tool}`] } }),
  commands: (tool: string) => ({ name: "tool_exec", arguments: { op: `rich.${tool}` } }),
  code: (tool: string) => ({ name: "run", arguments: { code: `return tools.rich.${tool}({})` } }),
};

const gateway = gatewayOf([createMcpSource("rich", UPSTREAM, { trusted: true })], { principal: operator });

beforeAll(() => eventually(async () => expect((await gateway.view()).entries).toHaveLength(12), 30_000));
afterAll(() => gateway.close());

describe.each(ERAS)("a client of %s", (era) => {
  describe.each(Object.keys(CALLS) as (keyof typeof CALLS)[])("on the surface %s", (surface) => {
    const server = createMcpServer(gateway, { surface });
    const call = CALLS[surface];
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
      const heard: unknown[] = [];
      client.setNotificationHandler("notifications/message", ({ params }) => {
        heard.push(params);
      });
      const level = "warning" as const;
      if (era === "2025-11-25") await client.setLoggingLevel(level);
      const wanted = era === "2025-11-25" ? {} : { _meta: { [LOG_LEVEL_META_KEY]: level } };
      await client.callTool({ ...call("say"), ...wanted });
      await eventually(() => expect(heard).toEqual([{ level, logger: "rich", data: { said: ["this"] } }]));
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
    await client.callTool(CALLS.lanes("say"));
    expect(received.filter((message) => message.includes("notifications/message"))).toEqual([]);
    await server.close();
  });
});
