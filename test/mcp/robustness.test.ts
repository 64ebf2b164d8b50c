import fc from "fast-check";
import { createGateway } from "keyhole";
import { createMcpServer } from "keyhole/mcp";
import { expect, test } from "vitest";
import { clerk, createShop } from "../shop.ts";

const gateway = createGateway({ domains: createShop().domains, principal: clerk });
const server = createMcpServer(gateway);

function post(body: string, headers: Record<string, string> = {}): Promise<Response> {
  return server.fetch(
    new Request("http://localhost/mcp", {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...headers,
      },
      body,
    }),
  );
}

const methods = [
  "tools/call",
  "tools/list",
  "resources/read",
  "prompts/get",
  "completion/complete",
  "initialize",
  "x",
];
const names = ["ask", "exec", "get", "constructor", "__proto__", "toString", ""];
const params = fc.oneof(
  fc.jsonValue(),
  fc.record({ name: fc.constantFrom(...names), arguments: fc.jsonValue() }),
  fc.record({
    uri: fc.oneof(fc.string(), fc.constantFrom("shop://resources/manual", "result://x", "constructor")),
  }),
);
const message = fc.record(
  {
    jsonrpc: fc.constantFrom("2.0", "1.0"),
    id: fc.oneof(fc.integer(), fc.string(), fc.constant(null)),
    method: fc.constantFrom(...methods),
    params,
  },
  { requiredKeys: ["method"] },
);

test("malformed-client: answers every body once, and the server keeps running", async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(message, fc.jsonValue(), fc.array(message, { maxLength: 3 })), async (body) => {
      const response = await post(JSON.stringify(body));
      expect(response.status).toBeLessThan(500);
      await response.text();
    }),
    { numRuns: 300 },
  );
  expect((await post(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }))).status).toBe(200);
});

test("malformed-client: answers every request of a client of 2026-07-28 once", async () => {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const given = fc.record({
    method: fc.constantFrom(...methods),
    params: fc.record(
      {
        name: fc.constantFrom(...names),
        arguments: fc.jsonValue(),
        uri: fc.string(),
        requestState: fc.jsonValue(),
        inputResponses: fc.jsonValue(),
        cursor: fc.string(),
      },
      { requiredKeys: [] },
    ),
  });
  await fc.assert(
    fc.asyncProperty(given, async ({ method, params: some }) => {
      const response = await post(
        JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...some, _meta } }),
        {
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": method,
          ...(some.name && { "mcp-name": some.name }),
        },
      );
      expect(response.status).toBeLessThan(500);
      expect(await response.json()).toHaveProperty("jsonrpc", "2.0");
    }),
    { numRuns: 300 },
  );
});

test.each(["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "1999-01-01"])(
  "serves a client that asks for %s",
  async (protocolVersion) => {
    const clientInfo = { name: "test", version: "1" };
    const opened = await post(
      JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "initialize",
        params: { protocolVersion, capabilities: {}, clientInfo },
      }),
    );
    const text = await opened.text();
    const known = protocolVersion !== "1999-01-01";
    expect(text).toContain(`"protocolVersion":"${known ? protocolVersion : "2025-11-25"}"`);
    const session = opened.headers.get("mcp-session-id") ?? "";
    const listed = await post(JSON.stringify({ jsonrpc: "2.0", id: 2, method: "tools/list" }), {
      "mcp-session-id": session,
    });
    expect(await listed.text()).toContain('"name":"ask"');
  },
);
