// Walks the telemetry chapter of the agent framework's document: the hierarchy of spans and their attributes.
import { createGateway, defineDomain, defineTool, startTelemetry } from "keyhole";
import { createAgent, run } from "keyhole/agent";
import { createMcpServer, serveHttp } from "keyhole/mcp";
import { createScriptedModel, type ScriptedReply } from "keyhole/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { recordAgentEvents } from "../../src/agent/loop/record-agent-events.ts";
import { createMcpSource } from "../../src/sources/mcp/mcp-source.ts";
import { startCollector } from "../otlp-collector.ts";
import { eventually, gatewayOf } from "../upstream-kit.ts";
import { openTerminalAgent } from "./terminal-agent.ts";

const READ: ScriptedReply[] = [
  { calls: [{ name: "tool_search", args: { query: "read a file" } }], usage: { input: 150, output: 50 } },
  { calls: [{ name: "read", args: { path: "notes.txt" } }] },
  { text: "It says hello." },
];

async function tracedRun(script: readonly ScriptedReply[], telemetry = {}) {
  const collector = await startCollector();
  const opened = await openTerminalAgent(script, {
    settings: {
      telemetry: { enabled: true, endpoint: collector.url, ...telemetry },
      agent: { temperature: 0.5, mode: "discover" },
    },
    project: { "notes.txt": "hello" },
  });
  const { end } = await opened.ask("What do my notes say?");
  await opened.close();
  return {
    ...opened,
    end,
    collector,
    spans: collector.spans(),
    port: Number(new URL(opened.server.url).port),
  };
}

describe("the span hierarchy", () => {
  test("agent.run, gen_ai.chat and tool.execute are one tree with one conversation", async () => {
    const { spans, session, port } = await tracedRun(READ);
    const root = spans.find(({ name }) => name === "invoke_agent keyhole")!;
    expect(root.parentSpanId).toBeUndefined();
    const below = (parent: string) => spans.filter(({ parentSpanId }) => parentSpanId === parent);
    expect(below(root.spanId).map(({ name }) => name)).toEqual([
      "chat phi4",
      "execute_tool tool_search",
      "chat phi4",
      "execute_tool read",
      "chat phi4",
    ]);
    const [chat] = below(root.spanId);
    expect(chat?.attributes).toMatchObject({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "local",
      "gen_ai.request.model": "phi4",
      "gen_ai.request.temperature": 0.5,
      "gen_ai.response.model": "scripted",
      "gen_ai.response.finish_reasons": ["tool_call"],
      "gen_ai.usage.input_tokens": 150,
      "gen_ai.usage.output_tokens": 50,
      "server.address": "127.0.0.1",
      "server.port": port,
    });
    // The gateway's own spans hang below the agent's calls.
    const call = below(root.spanId).find(({ name }) => name === "execute_tool read")!;
    expect(below(call.spanId).map(({ name }) => name)).toEqual(["execute_tool workspace.read"]);
    const search = below(root.spanId).find(({ name }) => name === "execute_tool tool_search")!;
    expect(below(search.spanId).map(({ name }) => name)).toEqual(["keyhole.ask"]);
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
    expect(new Set(spans.map(({ attributes }) => attributes["gen_ai.conversation.id"]))).toEqual(
      new Set([session.id]),
    );
  });

  test("failures have codes as error.type", async () => {
    const { spans, end } = await tracedRun([
      { calls: [{ name: "tool_search", args: { query: "read a file" } }] },
      { calls: [{ name: "read", args: { path: "none.txt" } }] },
      { text: "", finish: "content-filter" },
    ]);
    const typeOf = (name: string) => spans.find((span) => span.name === name)?.attributes["error.type"];
    expect(typeOf("execute_tool read")).toBe("NOT_FOUND");
    expect(typeOf("keyhole.exec")).toBe("NOT_FOUND");
    expect(end.outcome).toBe("filtered");
    expect(typeOf("invoke_agent keyhole")).toBe("ANSWER_FILTERED");
    const last = spans.filter(({ name }) => name === "chat phi4").at(-1);
    expect(last?.attributes["gen_ai.response.finish_reasons"]).toEqual(["content_filter"]);
  });

  test("a provider's failure is counted with its code", async () => {
    const { collector, spans } = await tracedRun([{ error: { status: 401, message: "wrong key" } }]);
    expect(spans.find(({ name }) => name === "chat phi4")?.attributes["error.type"]).toBe(
      "AUTHENTICATION_ERROR",
    );
    const duration = collector.metrics().find(({ name }) => name === "gen_ai.client.operation.duration");
    expect(duration?.histogram.dataPoints[0]?.attributes).toMatchObject({
      "error.type": "AUTHENTICATION_ERROR",
      "gen_ai.request.model": "phi4",
    });
  });

  test("with enableSensitiveData (telemetry.arguments), messages have tool-call parts", async () => {
    const { spans } = await tracedRun(READ, { arguments: true });
    const chats = spans.filter(({ name }) => name === "chat phi4");
    const [said] = JSON.parse(String(chats[1]?.attributes["gen_ai.output.messages"]));
    expect(said).toMatchObject({
      role: "assistant",
      finish_reason: "tool_call",
      parts: [{ type: "tool_call", id: expect.any(String), name: "read", arguments: { path: "notes.txt" } }],
    });
    const asked = JSON.parse(String(chats[2]?.attributes["gen_ai.input.messages"]));
    expect(asked.at(-1)).toMatchObject({
      role: "tool",
      parts: [
        { type: "tool_call_response", id: said.parts[0].id, response: expect.stringContaining("hello") },
      ],
    });
  });
});

test("the trace goes on from the agent through the gateway to an upstream server", async () => {
  const seen: (string | undefined)[] = [];
  const probe = defineTool({
    name: "probe",
    description: "Looks at its trace.",
    execute: (_, { trace }) => {
      seen.push(trace?.traceparent);
      return "seen";
    },
  });
  const far = createGateway({
    domains: [defineDomain({ name: "far", description: "Far.", tools: [probe] })],
  });
  const token = "t".repeat(32);
  const farServer = await serveHttp(createMcpServer(far, { surface: "native" }), { token });
  const headers = { authorization: `Bearer ${token}` };
  const gateway = gatewayOf([createMcpSource("up", { url: farServer.url, headers }, { trusted: true })]);
  onTestFinished(async () => {
    await gateway.close();
    await farServer.close();
    await far.close();
  });
  await eventually(async () =>
    expect((await gateway.view()).entries.some(({ kind }) => kind === "tool")).toBe(true),
  );
  const model = createScriptedModel([
    { calls: [{ name: "tool_search", args: { query: "look at the trace" } }] },
    { calls: [{ name: "far_probe", args: {} }] },
    { text: "Seen." },
  ]);
  const agent = createAgent({ gateway, model, ask: async () => "once" });
  const session = await agent.openSession();
  await Array.fromAsync(run(agent, "Look", { session }));
  // Nobody records, so no trace is made up for the server.
  expect(seen).toEqual([undefined]);

  const again = createScriptedModel([{ calls: [{ name: "far_probe", args: {} }] }, { text: "Seen." }]);
  const collector = await startCollector();
  const telemetry = (await startTelemetry({ enabled: true, endpoint: collector.url }))!;
  const record = recordAgentEvents(telemetry.recorder, { provider: "scripted", arguments: false });
  const second = createAgent({ ...agent.options, model: again });
  for await (const event of run(second, "Look again", { session })) record(event);
  await telemetry.close();

  const chain: string[] = [];
  const spans = collector.spans();
  let span = spans.find(({ name }) => name === "invoke_agent keyhole");
  const { traceId } = span!;
  span = spans.find(
    ({ parentSpanId, name }) => parentSpanId === span?.spanId && name.startsWith("execute_tool"),
  );
  while (span) {
    chain.push(`${span.kind} ${span.name}`);
    const { spanId } = span;
    span = spans.find(({ parentSpanId }) => parentSpanId === spanId);
  }
  expect(chain).toEqual([
    "1 execute_tool far_probe",
    "1 execute_tool up.far_probe",
    "3 tools/call far_probe",
    "2 tools/call far_probe",
    "1 execute_tool far.probe",
  ]);
  expect(seen.at(-1)).toContain(traceId);
  const asked = spans.find(({ kind, name }) => kind === 3 && name === "tools/call far_probe")!;
  expect(asked.attributes).toMatchObject({
    "mcp.method.name": "tools/call",
    "gen_ai.tool.name": "far_probe",
    "gen_ai.conversation.id": session.id,
    "server.address": "127.0.0.1",
    "server.port": Number(new URL(farServer.url).port),
    "network.transport": "tcp",
  });
});

test("telemetry is opt-in, and a collector that fails does not disturb a run", async () => {
  const collector = await startCollector();
  collector.api.answer = (_, response) => void response.writeHead(500).end();
  const opened = await openTerminalAgent([{ text: "Fine." }], {
    settings: { telemetry: { enabled: true, endpoint: collector.url } },
  });
  expect((await opened.ask("Hi")).end.outcome).toBe("answered");
  const off = await startCollector();
  const quiet = await openTerminalAgent([{ text: "Fine." }], {
    settings: { telemetry: { endpoint: off.url } },
  });
  await quiet.ask("Hi");
  await quiet.close();
  expect(off.api.seen).toEqual([]);
});
