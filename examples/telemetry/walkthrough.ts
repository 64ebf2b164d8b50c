import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { createGateway, defineDomain, defineTool, startTelemetry } from "keyhole";
import { z } from "zod";

// Stands in for an OpenTelemetry collector.
const received: string[] = [];
const collector = createServer(async (request, response) => {
  received.push(await text(request));
  response.end("{}");
}).listen(0, "127.0.0.1");
await new Promise((resolve) => collector.once("listening", resolve));
const { port } = collector.address() as AddressInfo;

const telemetry = await startTelemetry({ enabled: true, endpoint: `http://127.0.0.1:${port}` });

const greet = defineTool({
  name: "greet",
  description: "Greet somebody.",
  inputSchema: z.object({ name: z.string() }),
  execute: ({ name }) => ({ text: `Hello ${name}` }),
});
const domains = [defineDomain({ name: "hall", description: "Greetings.", tools: [greet] })];
const gateway = createGateway({ domains });
await gateway.exec({ op: "hall.greet", args: { name: "Ada" } });
await gateway.close();
await telemetry?.close();
collector.close();

const sent = received.join("\n");
assert.match(sent, /"name":"execute_tool hall\.greet"/);
assert.match(sent, /"name":"keyhole\.operation\.duration"/);
assert.doesNotMatch(sent, /Ada/);
console.log(`The collector received ${received.length} requests without arguments.`);
