// Makes calls over stdio, through the AI SDK and in a chat, and prints which functions ran in each of them, in order.
import { resolve } from "node:path";
import { PassThrough } from "node:stream";
import { generateText, isStepCount } from "ai";
import { createGateway, defineDomain, defineTool, type Source } from "keyhole";
import { createAgent, run } from "keyhole/agent";
import { toAISDKTools } from "keyhole/ai-sdk";
import { createMcpServer } from "keyhole/mcp";
import { createScriptedModel } from "keyhole/testing";
import { BARE_ENTRY } from "../../src/core/nouns/bare-entry.ts";
import { createLineTransport } from "../../src/faces/mcp/line-transport.ts";
import { createMcpSource } from "../../src/sources/mcp/mcp-source.ts";

declare global {
  var walk: string[] | undefined;
}

globalThis.AI_SDK_LOG_WARNINGS = false;
const server = { command: process.execPath, args: [resolve("src/testing/chaos-upstream.ts")] };
const till = defineDomain({
  name: "till",
  description: "A till.",
  tools: [
    defineTool({
      name: "charge_card",
      op: "till.card.charge",
      description: "Charge a card.",
      requiresConfirmation: true,
      execute: () => "charged",
    }),
  ],
  resources: [
    {
      route: "till://resources/manual",
      name: "manual",
      description: "The manual.",
      fetch: () => "Press the button.",
    },
  ],
});
const oven: Source = {
  id: "oven",
  contents: async function* () {
    const bake = {
      ...BARE_ENTRY,
      kind: "tool",
      domain: "oven",
      op: "oven.bake",
      route: "oven://tools/bake",
      name: "bake",
      description: "Bake bread.",
      lane: "write",
      requiresConfirmation: false,
      extraction: null,
      presentation: { runsAsTask: true },
      call: async () => "baked",
    } as const;
    yield { domains: [{ name: "oven", description: "An oven.", scopes: [], rules: [] }], drafts: [bake] };
  },
};
const gateway = createGateway({
  domains: [till],
  sources: [createMcpSource("demo", server, { trusted: true }), oven],
  principal: { id: "person", scopes: [], allowWrite: true },
});
await gateway.ready();

type Message = { readonly result?: Readonly<Record<string, unknown>> };
const CLIENT = { name: "walk", version: "1" };
const CAPABILITIES = { elicitation: { form: {} } };
const YES = { action: "accept", content: { approve: true } };
const CHARGE = { name: "exec", arguments: { op: "till.card.charge" } };
const walks: Record<string, string[]> = {};

/** Records a piece of work. The time before loads what later ones find loaded. */
async function record(name: string, work: () => Promise<unknown>): Promise<void> {
  await work();
  globalThis.walk = [];
  await work();
  walks[name] = globalThis.walk;
  globalThis.walk = undefined;
}

/** A client over stdio whose person says yes to every question. */
function connect(surface: "lanes" | "native" = "lanes") {
  const input = new PassThrough();
  const output = new PassThrough();
  createMcpServer(gateway, { surface }).connect(createLineTransport(input, output));
  const answers = new Map<number, (answer: Message) => void>();
  const send = (message: object) => input.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  let text = "";
  output.on("data", (bytes) => {
    const lines = `${text}${bytes}`.split("\n");
    text = lines.pop() ?? "";
    for (const line of lines) {
      const { id, method, ...answer } = JSON.parse(line);
      if (method === "elicitation/create") send({ id, result: YES });
      else answers.get(id)?.(answer);
    }
  });
  let last = 0;
  const request = (method: string, params: object): Promise<Message> => {
    const { promise, resolve } = Promise.withResolvers<Message>();
    const id = ++last;
    answers.set(id, resolve);
    send({ id, method, params });
    return promise;
  };
  return { send, request };
}

async function connectLegacy(surface: "lanes" | "native" = "lanes") {
  const { send, request } = connect(surface);
  await request("initialize", {
    protocolVersion: "2025-11-25",
    capabilities: CAPABILITIES,
    clientInfo: CLIENT,
  });
  send({ method: "notifications/initialized" });
  return request;
}

const legacy = await connectLegacy();
const CALLS = {
  exec: { name: "exec", arguments: { op: "demo.add", args: {} } },
  get: { name: "get", arguments: { routes: ["till://resources/manual"] } },
  ask: { name: "ask", arguments: { query: "add two numbers" } },
  "approved 2025-11-25": CHARGE,
};
for (const [name, call] of Object.entries(CALLS)) await record(name, () => legacy("tools/call", call));

const { request: modern } = connect();
const _meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": CLIENT,
  "io.modelcontextprotocol/clientCapabilities": CAPABILITIES,
};
await record("approved 2026-07-28", async () => {
  const { result: asked = {} } = await modern("tools/call", { ...CHARGE, _meta });
  const { requestState, inputRequests = {} } = asked;
  const inputResponses = Object.fromEntries(Object.keys(inputRequests as object).map((key) => [key, YES]));
  return modern("tools/call", { ...CHARGE, _meta, requestState, inputResponses });
});

const native = await connectLegacy("native");
await record("task", async () => {
  const { result } = await native("tools/call", { name: "oven_bake", arguments: {}, task: {} });
  return native("tasks/result", { taskId: (result as { task: { taskId: string } }).task.taskId });
});

const add = { calls: [{ name: "add", args: {} }] };
const addByExec = { calls: [{ name: "exec", args: { op: "demo.add", args: {} } }] };
const { tools } = await toAISDKTools(gateway, { mode: "fixed" });
await record("ai-sdk", () =>
  generateText({
    model: createScriptedModel([addByExec, { text: "Done." }]),
    tools,
    stopWhen: isStepCount(3),
    prompt: "Add.",
  }),
);

let turn = 0;
const model = createScriptedModel(() => (turn++ % 2 === 0 ? add : { text: "Done." }));
const agent = createAgent({ gateway, model, hands: ["demo"] });
const session = await agent.openSession();
await record("chat", async () => {
  for await (const event of run(agent, "Add.", { session })) if (event.type === "agent-end") return;
});
// The process ends at once, and a pipe takes a text of this size in parts.
await new Promise((done) => process.stdout.write(JSON.stringify(walks), done));
await gateway.close();
process.exit(0);
