import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { createMcpHandler, inputRequired, Server } from "@modelcontextprotocol/server";
import { createPins } from "keyhole";
import { createMcpServer } from "keyhole/mcp";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { createMcpSource } from "../../src/sources/mcp/mcp-source.ts";
import { verifies } from "../claims.ts";
import { gatewayOf, PATIENT } from "../upstream-kit.ts";
import { connectHttp } from "./connect.ts";

const FORM = inputRequired.elicit({
  message: "Your name?",
  requestedSchema: { type: "object", properties: { name: { type: "string" } } },
});
const ASKS: Readonly<Record<string, object>> = {
  form: FORM,
  page: {
    method: "elicitation/create",
    params: { mode: "url", message: "Go", url: "https://a.example", elicitationId: "1" },
  },
  model: { method: "sampling/createMessage", params: { messages: [], maxTokens: 5 } },
  folders: { method: "roots/list", params: {} },
};
const SERVER = createMcpHandler(() => {
  const server = new Server({ name: "curious", version: "1" }, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", async () => ({
    tools: Object.keys(ASKS).map((name) => ({ name, inputSchema: { type: "object" as const } })),
  }));
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
    if (mcpReq.inputResponses)
      return { content: [{ type: "text", text: JSON.stringify(mcpReq.inputResponses) }] };
    return { resultType: "input_required", inputRequests: { it: ASKS[params.name] } } as never;
  });
  return server;
});

let url = "";
const http = createServer(async (request, response) => {
  const body = await text(request);
  const answer = await SERVER.fetch(
    new Request(url, {
      method: request.method ?? "GET",
      headers: request.headers as Record<string, string>,
      ...(body && { body }),
    }),
  );
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  for await (const chunk of answer.body ?? []) response.write(chunk);
  response.end();
});
beforeAll(async () => {
  await new Promise<void>((done) => http.listen(0, "127.0.0.1", done));
  url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
});
afterAll(() => http.closeAllConnections());

describe.each([true, false])("a server with trusted: %s", (trusted) => {
  async function ask(name: string) {
    const pins = createPins();
    const gateway = gatewayOf([createMcpSource("curious", { url }, { trusted, limits: PATIENT })], { pins });
    await gateway.ready();
    await gateway.pins.approve({ source: "curious" });
    const server = createMcpServer(gateway, { surface: "native", nativeNames: "names" });
    const asked: string[] = [];
    const capabilities = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
    const { client } = await connectHttp(server, "2026-07-28", { capabilities });
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      asked.push(params.message);
      return { action: "accept", content: { name: "Ada" } };
    });
    client.setRequestHandler("sampling/createMessage", async () => {
      asked.push("the model");
      return { model: "m", role: "assistant" as const, content: { type: "text" as const, text: "hi" } };
    });
    client.setRequestHandler("roots/list", async () => {
      asked.push("the folders");
      return { roots: [] };
    });
    try {
      const answer = await client.callTool({ name, arguments: {} }).catch(String);
      return { asked, answer: JSON.stringify(answer) };
    } finally {
      await client.close();
      await server.close();
      await gateway.close();
    }
  }

  verifies("mcp:asking", "may show a form to the person", async () => {
    const { asked, answer } = await ask("form");
    expect(asked).toEqual([trusted ? "Your name?" : "The server curious asks: Your name?"]);
    expect(answer).toContain("Ada");
  });

  verifies(
    "mcp:asking",
    "may ask for the model and the folders, and for a page only if trusted",
    async () => {
      for (const [name, what] of [
        ["page", "Go"],
        ["model", "the model"],
        ["folders", "the folders"],
      ] as const) {
        const { asked, answer } = await ask(name);
        const mayAsk = trusted || name !== "page";
        expect(asked).toEqual(mayAsk ? [what] : []);
        // An honest server hears that it may not ask, and does not.
        if (!mayAsk) expect(answer).toContain("do not declare the required capability");
      }
    },
  );
});
