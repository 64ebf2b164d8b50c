import * as sdk from "@modelcontextprotocol/client";
import { Server } from "@modelcontextprotocol/server";
import { expect, test } from "vitest";
import { type CallLane, createCallLane } from "./call-lane.ts";
import type { CallTool } from "./call-tool.ts";

const TOOL = { name: "any", inputSchema: { type: "object" as const } };
const RESULTS: Readonly<Record<string, object>> = {
  text: { content: [{ type: "text", text: "hello" }], structuredContent: { a: 1 } },
  failed: { content: [{ type: "text", text: "no" }], isError: true },
  picture: { content: [{ type: "image", data: "aGVsbG8=", mimeType: "image/png" }] },
  noted: { content: [{ type: "text", text: "hello", annotations: { priority: 1 } }], _meta: { a: 1 } },
};

interface Opened {
  readonly client: sdk.Client;
  readonly lane: CallLane;
  readonly callTool: CallTool;
  /** The ids of the calls that the server has seen. */
  readonly ids: unknown[];
  /** Why the server's last waiting call was cancelled. */
  cancelled: Promise<unknown>;
}

/** A client and a server of the SDK, in memory, with a lane on the client's side. */
async function open(): Promise<Opened> {
  const [near, far] = sdk.InMemoryTransport.createLinkedPair();
  const server = new Server({ name: "any", version: "1" }, { capabilities: { tools: {} } });
  const ids: unknown[] = [];
  const cancelled = Promise.withResolvers<unknown>();
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
    ids.push(mcpReq.id);
    if (params.name === "refused") throw new sdk.ProtocolError(-32_602, "Refused", { why: "test" });
    if (params.name === "waiting") {
      const progressToken = mcpReq._meta?.progressToken ?? 0;
      await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress: 1 } });
      const { signal } = mcpReq;
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
      cancelled.resolve(mcpReq.signal.reason);
    }
    return RESULTS[params.name] as never;
  });
  await server.connect(far as never);
  const lane = createCallLane(sdk, near, (answer) => near.onmessage?.(answer as never));
  const client = new sdk.Client({ name: "lane", version: "1" });
  await client.connect(near);
  const deliver = near.onmessage;
  near.onmessage = (message, extra) => void (lane.take(message) || deliver?.(message, extra));
  return { client, lane, callTool: lane.over(client), ids, cancelled: cancelled.promise };
}

test.each(Object.keys(RESULTS))(
  "the result %s is the one that the SDK reads, after one request",
  async (name) => {
    const { client, callTool, ids } = await open();
    const params = { name, arguments: {} };
    const read = await callTool(params, { toolDefinition: TOOL });
    expect(ids).toHaveLength(1);
    expect(ids[0]).toBeGreaterThan(1_000_000_000);
    expect(read).toEqual(await client.callTool({ name, arguments: {} }));
  },
);

test("an error is the one that the SDK throws, after one request", async () => {
  const { client, callTool, ids } = await open();
  const call = callTool({ name: "refused", arguments: {} }, { toolDefinition: TOOL });
  const { code, message, data } = await call.catch((error) => error);
  expect(ids).toHaveLength(1);
  await expect(client.callTool({ name: "refused", arguments: {} })).rejects.toMatchObject({
    code,
    message,
    data,
  });
  expect({ code, data }).toEqual({ code: -32_602, data: { why: "test" } });
});

test("progress reaches the caller, and a cancelled call is cancelled in the server", async () => {
  const { callTool, cancelled } = await open();
  const controller = new AbortController();
  const call = callTool(
    { name: "waiting", arguments: {} },
    {
      toolDefinition: TOOL,
      signal: controller.signal,
      onprogress: ({ progress }) => controller.abort(`after ${progress}`),
    },
  );
  await expect(call).rejects.toBe("after 1");
  expect(await cancelled).toBe("after 1");
});

test("a call that takes too long is cancelled in the server", async () => {
  const { callTool, cancelled } = await open();
  const call = callTool({ name: "waiting", arguments: {} }, { toolDefinition: TOOL, timeout: 20 });
  await expect(call).rejects.toMatchObject({ code: "REQUEST_TIMEOUT" });
  expect(await cancelled).toContain("timed out");
});

test("calls that wait fail when the connection ends", async () => {
  const { callTool, lane } = await open();
  const call = callTool({ name: "waiting", arguments: {} }, { toolDefinition: TOOL });
  lane.close();
  await expect(call).rejects.toMatchObject({ code: "CONNECTION_CLOSED" });
});
