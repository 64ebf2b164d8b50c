// A stdio MCP server whose definitions and results use every feature of the protocol.
import { setTimeout } from "node:timers/promises";
import { ProtocolError, Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
const icons = [{ src: "data:image/png;base64,AAAA", mimeType: "image/png", sizes: ["16x16"] }];
const NO_ARGS = { type: "object" as const, properties: {} };

const everyKind = {
  content: [
    {
      type: "text",
      text: "  Words, می‌خواهم 👩‍🚀 as they are.\r\n",
      annotations: { audience: ["user"], priority: 0.5 },
    },
    { type: "image", data: PIXEL, mimeType: "image/png", _meta: { "example.com/width": 1 } },
    { type: "audio", data: "UklGRg==", mimeType: "audio/wav" },
    { type: "resource", resource: { uri: "rich://a", mimeType: "text/plain", text: "a", _meta: { x: [1] } } },
    { type: "resource", resource: { uri: "rich://b", blob: "AAAA" } },
    { type: "resource_link", uri: "rich://notes/1", name: "note", title: "A note", size: 3, icons },
  ],
  structuredContent: { total: 12345678901234, nested: { list: [null, { deep: true }], empty: {} } },
  _meta: { "example.com/cost": { cents: 3 } },
};

const logo = {
  content: [
    { type: "text", text: "The logo of the shop." },
    { type: "image", data: Buffer.alloc(4_096, "keyhole logo").toString("base64"), mimeType: "image/png" },
    { type: "resource_link", uri: "rich://brand/guide", name: "Brand guide" },
  ],
};

const failure = {
  content: [
    { type: "text", text: "It is on fire." },
    { type: "image", data: PIXEL, mimeType: "image/png" },
  ],
  structuredContent: { total: -1 },
  isError: true,
  _meta: { "example.com/retry": false },
};

let cancelled = 0;

const server = () => {
  const made = new Server(
    { name: "rich", version: "1.0.0" },
    { capabilities: { tools: {}, prompts: {}, resources: {}, logging: {} } },
  );
  made.setRequestHandler("tools/list", async () => ({
    tools: [
      {
        name: "every_kind",
        title: "Every kind of content",
        description: "Gives everything.\n\n  Indented, and <b>marked</b> up.",
        inputSchema: {
          ...NO_ARGS,
          properties: { n: { type: "integer", description: "How many", default: 1 } },
        },
        outputSchema: { type: "object" as const, properties: { total: { type: "number" } } },
        annotations: { title: "Everything", readOnlyHint: true, idempotentHint: true, openWorldHint: false },
        icons,
        _meta: { ui: { resourceUri: "ui://rich/panel", visibility: ["model", "app"] } },
      },
      {
        name: "logo",
        description: "Shows the logo.",
        inputSchema: NO_ARGS,
        annotations: { readOnlyHint: true },
      },
      { name: "fail", description: "Fails.", inputSchema: NO_ARGS, annotations: { destructiveHint: false } },
      { name: "steps", description: "Tells how far it is.", inputSchema: NO_ARGS, annotations: {} },
      { name: "wait", description: "Waits to be cancelled.", inputSchema: NO_ARGS, annotations: {} },
      { name: "cancelled", description: "Counts.", inputSchema: NO_ARGS, annotations: {} },
      { name: "say", description: "Logs what it does.", inputSchema: NO_ARGS, annotations: {} },
      { name: "broken", description: "Fails in the protocol.", inputSchema: NO_ARGS, annotations: {} },
    ],
  }));
  made.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
    if (params.name === "every_kind") return everyKind as never;
    if (params.name === "logo") return logo as never;
    if (params.name === "fail") return failure as never;
    if (params.name === "cancelled") return { content: [{ type: "text", text: String(cancelled) }] };
    if (params.name === "wait") {
      await new Promise((resolve) => mcpReq.signal.addEventListener("abort", resolve, { once: true }));
      cancelled += 1;
      return { content: [] };
    }
    if (params.name === "broken") throw new ProtocolError(-32_077, "Out of paper", { tray: 2 });
    if (params.name === "say") {
      await mcpReq.log("debug", "Small talk", "rich");
      await mcpReq.log("warning", { said: ["this"] }, "rich");
      await setTimeout(50);
      return { content: [{ type: "text", text: "Said." }] };
    }
    const progressToken = mcpReq._meta?.progressToken;
    for (const progress of [1, 2, 3]) {
      if (progressToken === undefined) break;
      const update = { progressToken, progress, total: 3, message: `Step ${progress}` };
      await mcpReq.notify({ method: "notifications/progress", params: update });
      // The SDK's client drops progress that arrives together with the result.
      await setTimeout(50);
    }
    return { content: [{ type: "text", text: "Done." }] };
  });
  made.setRequestHandler("prompts/list", async () => ({
    prompts: [
      {
        name: "review",
        title: "Review it",
        description: "Reviews.",
        arguments: [{ name: "what", required: true }],
        icons,
      },
    ],
  }));
  made.setRequestHandler("prompts/get", async ({ params }) => ({
    description: "A review",
    messages: [
      { role: "user" as const, content: { type: "text" as const, text: `Review ${params.arguments?.what}` } },
      { role: "assistant" as const, content: { type: "image" as const, data: PIXEL, mimeType: "image/png" } },
    ],
    _meta: { "example.com/model": "any" },
  }));
  made.setRequestHandler("resources/list", async () => ({
    resources: [
      {
        uri: "rich://notes/1",
        name: "note",
        title: "A note",
        description: "Notes.",
        mimeType: "image/png",
        size: 70,
        icons,
      },
      {
        uri: "ui://rich/panel",
        name: "panel",
        description: "Shows everything.",
        mimeType: "text/html;profile=mcp-app",
        _meta: { ui: { csp: { connectDomains: ["https://api.example.com"] } } },
      },
    ],
  }));
  made.setRequestHandler("resources/templates/list", async () => ({
    resourceTemplates: [
      { uriTemplate: "rich://by-id/{id}", name: "by id", description: "By id.", mimeType: "text/plain" },
    ],
  }));
  made.setRequestHandler("resources/read", async ({ params: { uri } }) => ({
    contents: [
      ...(uri.startsWith("ui://")
        ? [{ uri, mimeType: "text/html;profile=mcp-app", text: "<!doctype html><p>Hi</p>" }]
        : []),
      { uri, mimeType: "image/png", blob: PIXEL, _meta: { "example.com/page": 1 } },
      { uri: `${uri}#more`, mimeType: "text/plain", text: "And words." },
    ],
    _meta: { "example.com/read": true },
  }));
  return made;
};

serveStdio(server);
