import { spawnSync } from "node:child_process";
import { createGateway, defineDomain, defineTool, startTelemetry } from "keyhole";
import { createMcpServer, serveHttp } from "keyhole/mcp";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import type { AgentEvent } from "../src/agent/loop/agent-event.ts";
import { recordAgentEvents } from "../src/agent/loop/record-agent-events.ts";
import { newSpan, parseTraceparent } from "../src/core/telemetry/events.ts";
import { createMcpSource } from "../src/sources/mcp/mcp-source.ts";
import { verifies } from "./claims.ts";
import { startLoopbackApi } from "./loopback-api.ts";
import { connect } from "./mcp/connect.ts";
import { startCollector } from "./otlp-collector.ts";
import { clerk, createShop } from "./shop.ts";
import { eventually, gatewayOf } from "./upstream-kit.ts";

const CANARY = "canary-5b1e";

async function start(endpoint: string, more: object = {}) {
  const telemetry = (await startTelemetry({ enabled: true, endpoint, version: "1.2.3", ...more }))!;
  onTestFinished(() => telemetry.close());
  return telemetry;
}

verifies("telemetry:conventions", "operations and MCP requests become spans and metrics", async () => {
  const collector = await startCollector();
  const telemetry = await start(collector.url, { headers: { "x-key": "collector-key" } });
  const gateway = createGateway({ domains: createShop().domains, principal: clerk });
  const server = createMcpServer(gateway);
  const { client } = await connect(server, "2026-07-28");
  const args = { op: "shop.order.create", args: { customer: CANARY, wrong: CANARY } };
  await client.callTool({ name: "exec", arguments: args });
  await client.callTool({ name: "ask", arguments: { query: CANARY } });
  await client.callTool({ name: CANARY, arguments: {} }).catch(() => {});
  await gateway.exec({ op: CANARY, args: {} });
  await client.close();
  await telemetry.close();

  expect(collector.resource()).toMatchObject({ "service.name": "keyhole", "service.version": "1.2.3" });
  const spans = collector.spans();
  const served = spans.find(({ name }) => name === "tools/call exec")!;
  expect(served).toMatchObject({
    kind: 2,
    status: { code: 2 },
    attributes: {
      "mcp.method.name": "tools/call",
      "gen_ai.tool.name": "exec",
      "gen_ai.operation.name": "execute_tool",
      "mcp.protocol.version": "2026-07-28",
      "network.transport": "pipe",
      "jsonrpc.request.id": expect.any(String),
      "error.type": "tool_error",
    },
  });
  const ran = spans.find(({ name }) => name === "execute_tool shop.order.create")!;
  expect(ran).toMatchObject({
    kind: 1,
    traceId: served.traceId,
    parentSpanId: served.spanId,
    attributes: { "gen_ai.tool.name": "shop.order.create", "error.type": "INVALID_PARAMS" },
  });
  expect(spans.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["tools/call ask", "keyhole.ask", "tools/call"]),
  );
  expect(BigInt(ran.endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(ran.startTimeUnixNano));
  const duration = collector.metrics().find(({ name }) => name === "mcp.server.operation.duration")!;
  expect(duration.unit).toBe("s");
  const [point] = duration.histogram.dataPoints;
  expect(point!.bucketCounts.length).toBe(point!.explicitBounds.length + 1);
  expect(point!.attributes).toMatchObject({ "mcp.method.name": "tools/call" });
  expect(collector.api.seen[0]?.headers).toMatchObject({
    "content-type": "application/json",
    "x-key": "collector-key",
  });
  expect(collector.text()).not.toContain(CANARY);
  expect(collector.text()).not.toContain("collector-key");
});

function runOfAgent(text: string): AgentEvent[] {
  const span = newSpan();
  const chat = newSpan(span);
  const call = newSpan(span);
  const cut = newSpan(span);
  const usage = { input: 150, output: 50, cached: 20 };
  return [
    { type: "agent-start", prompt: text, session: "s1", span },
    { type: "llm-start", step: 1, model: "gpt-4o", span: chat },
    { type: "llm-retry", attempt: 1, delayMs: 10, reason: text, span: chat },
    { type: "llm-text", step: 1, text, span: chat },
    { type: "llm-end", step: 1, text, usage, finish: "stop", span: chat },
    { type: "tool-start", callId: "c1", tool: "read_file", args: { path: text }, span: call },
    {
      type: "permission-request",
      callId: "c1",
      scope: "fs-read",
      action: text,
      reason: text,
      always: [text],
      span: call,
    },
    { type: "permission-answer", callId: "c1", answer: "once", span: call },
    {
      type: "tool-end",
      callId: "c1",
      tool: "read_file",
      ok: false,
      text,
      ms: 23,
      error: "NOT_FOUND",
      span: call,
    },
    { type: "llm-start", step: 2, model: "gpt-4o", span: cut },
    { type: "agent-end", outcome: "cancelled", text, usage, steps: 2, span },
  ];
}

verifies("telemetry:conventions", "an agent's run becomes a tree of spans", async () => {
  const collector = await startCollector();
  const telemetry = await start(collector.url);
  const record = recordAgentEvents(telemetry.recorder, { provider: "azure.ai.openai", arguments: false });
  for (const event of runOfAgent(CANARY)) record(event);
  await telemetry.close();
  const spans = collector.spans();
  const [chat, tool, cut, root] = spans;
  expect(spans.map(({ name }) => name)).toEqual([
    "chat gpt-4o",
    "execute_tool read_file",
    "chat gpt-4o",
    "invoke_agent keyhole",
  ]);
  expect(root).toMatchObject({
    attributes: {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": "keyhole",
      "gen_ai.conversation.id": "s1",
      "error.type": "CANCELLED",
    },
  });
  expect(root?.parentSpanId).toBeUndefined();
  expect(chat).toMatchObject({
    kind: 3,
    parentSpanId: root!.spanId,
    status: {},
    events: ["llm-retry"],
    attributes: {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "azure.ai.openai",
      "gen_ai.request.model": "gpt-4o",
      "gen_ai.usage.input_tokens": 150,
      "gen_ai.usage.output_tokens": 50,
    },
  });
  expect(tool).toMatchObject({
    parentSpanId: root!.spanId,
    events: ["permission-request", "permission-answer"],
    attributes: { "gen_ai.tool.name": "read_file", "gen_ai.tool.call.id": "c1", "error.type": "NOT_FOUND" },
  });
  expect(cut?.status).toEqual({ code: 2 });
  const usage = collector.metrics().find(({ name }) => name === "gen_ai.client.token.usage")!;
  expect(
    usage.histogram.dataPoints.map(({ attributes, sum }) => [attributes["gen_ai.token.type"], sum]),
  ).toEqual([
    ["input", 150],
    ["output", 50],
  ]);
  expect(collector.text()).not.toContain(CANARY);
});

verifies("telemetry:no-values", "values are sent on request, secrets never", async () => {
  const collector = await startCollector();
  const telemetry = await start(collector.url, { secrets: ["sk-planted-1234"] });
  const record = recordAgentEvents(telemetry.recorder, { provider: "openai", arguments: true });
  for (const event of runOfAgent(`${CANARY} sk-planted-1234`)) record(event);
  await telemetry.close();
  const root = collector.spans().at(-1)!;
  const [said] = JSON.parse(String(root.attributes["gen_ai.input.messages"]));
  expect(said).toEqual({ role: "user", parts: [{ type: "text", content: `${CANARY} [secret]` }] });
  expect(collector.spans()[1]?.attributes["gen_ai.tool.call.arguments"]).toBe(
    `{"path":"${CANARY} [secret]"}`,
  );
  expect(collector.text()).not.toContain("planted");
});

verifies(
  "telemetry:trace-context",
  "a trace continues from the client through the gateway to an upstream",
  async () => {
    const seen: string[] = [];
    const probe = defineTool({
      name: "probe",
      description: "Looks at its trace.",
      inputSchema: z.object({}),
      execute: (_, { trace }) => {
        seen.push(`${trace?.traceparent} ${trace?.tracestate}`);
        return { ok: true };
      },
    });
    const far = createGateway({
      domains: [defineDomain({ name: "far", description: "Far.", tools: [probe] })],
    });
    const farServer = await serveHttp(createMcpServer(far, { surface: "native" }), { token: "t".repeat(32) });
    const headers = { authorization: `Bearer ${"t".repeat(32)}` };
    const source = createMcpSource("up", { url: farServer.url, headers }, { trusted: true });
    const gateway = gatewayOf([source]);
    onTestFinished(async () => {
      await gateway.close();
      await farServer.close();
    });
    const probeOp = async () => (await gateway.view()).entries.find(({ kind }) => kind === "tool")?.op ?? "";
    await eventually(async () => expect(await probeOp()).toContain("probe"));
    const op = await probeOp();
    const { client } = await connect(createMcpServer(gateway), "2026-07-28");
    const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
    const call = async (traceparent: string) => {
      const args = { op, args: {}, dry_run: false };
      const _meta = { traceparent, tracestate: "vendor=1", baggage: CANARY };
      const found = await client.callTool({ name: "exec", arguments: args, _meta });
      expect(found.isError, JSON.stringify(found.structuredContent)).toBeFalsy();
      return seen.at(-1);
    };
    // Without telemetry a valid trace of the caller passes through unchanged; an invalid one does not.
    expect(await call(`00-${traceId}-00f067aa0ba902b7-01`)).toBe(
      `00-${traceId}-00f067aa0ba902b7-01 vendor=1`,
    );
    expect(await call(`00-${CANARY}`)).toBe("undefined undefined");

    const collector = await startCollector();
    const telemetry = await start(collector.url);
    await call(`00-${traceId}-00f067aa0ba902b7-01`);
    const unsampled = await call(`00-${"a".repeat(32)}-00f067aa0ba902b7-00`);
    expect(unsampled).toBe(`00-${"a".repeat(32)}-00f067aa0ba902b7-00 vendor=1`);
    await telemetry.close();
    const spans = collector.spans().filter((span) => span.traceId === traceId);
    const chain: string[] = [];
    for (let parent: string | undefined = "00f067aa0ba902b7"; parent !== undefined; ) {
      const next = spans.find(({ parentSpanId }) => parentSpanId === parent);
      if (next) chain.push(`${next.kind} ${next.name}`);
      parent = next?.spanId;
    }
    expect(chain).toEqual([
      "2 tools/call exec",
      `1 execute_tool ${op}`,
      "3 tools/call far_probe",
      "2 tools/call far_probe",
      "1 execute_tool far.probe",
    ]);
    const asked = spans.find(({ kind }) => kind === 3)!;
    expect(asked.attributes).toMatchObject({ "keyhole.upstream": "up", "network.transport": "tcp" });
    expect(collector.metrics().map(({ name }) => name)).toContain("mcp.client.operation.duration");
    expect(collector.spans().some((span) => span.traceId === "a".repeat(32))).toBe(false);
    expect(collector.text()).not.toContain(CANARY);
  },
);

verifies(
  "telemetry:collector-down",
  "unsent spans are bounded and dropped quietly, and nothing fails",
  async () => {
    const api = await startLoopbackApi();
    await api.close();
    const telemetry = await start(api.url);
    const gateway = createGateway({ domains: createShop().domains, principal: clerk });
    for (let call = 0; call < 3; call++) await gateway.help({ path: "" });
    const span = { name: "x", kind: "internal", startedAt: 1e12, durationMs: 1, attributes: {} } as const;
    for (let count = 0; count < 10_000; count++) telemetry.recorder.span({ ...span, context: newSpan() });
    await telemetry.flush();
    const { waiting, dropped, sent, failure } = telemetry.status();
    expect(waiting).toBeLessThanOrEqual(2048);
    expect([sent, waiting + dropped]).toEqual([0, 10_003]);
    expect(failure).toBeTruthy();
    await telemetry.close();
    expect(telemetry.status()).toMatchObject({ waiting: 0, dropped: 10_003 });
  },
);

verifies(
  "telemetry:collector-down",
  "a collector that returns gets the waiting spans; refused ones are not resent",
  async () => {
    const collector = await startCollector();
    const telemetry = await start(collector.url);
    const span = { name: "x", kind: "internal", startedAt: 1e12, durationMs: 1, attributes: {} } as const;
    collector.api.answer = (_, response) => void response.writeHead(503).end();
    telemetry.recorder.span({ ...span, context: newSpan() });
    await telemetry.flush();
    expect(telemetry.status()).toMatchObject({ waiting: 1, sent: 0 });
    collector.api.answer = (_, response) => void response.writeHead(200).end("{}");
    await telemetry.flush();
    expect(telemetry.status()).toEqual({ waiting: 0, sent: 1, dropped: 0 });
    collector.api.answer = (_, response) => void response.writeHead(400).end();
    telemetry.recorder.span({ ...span, context: newSpan() });
    await telemetry.flush();
    expect(telemetry.status()).toMatchObject({ waiting: 0, sent: 1, dropped: 1 });
  },
);

test("a collector that never answers does not keep the process alive", async () => {
  const collector = await startCollector();
  collector.api.answer = () => {};
  const telemetry = await start(collector.url);
  telemetry.recorder.metric("keyhole.answer.tokens", 1, {});
  const closing = telemetry.close();
  await eventually(() => expect(collector.api.seen.length).toBeGreaterThan(0));
  await closing;
});

test("metrics have a bounded number of series", async () => {
  const collector = await startCollector();
  const telemetry = await start(collector.url);
  for (let count = 0; count < 2_000; count++)
    telemetry.recorder.metric("keyhole.answer.tokens", 1, { count });
  await telemetry.close();
  const points = collector.metrics()[0]!.histogram.dataPoints;
  expect(points.length).toBe(501);
  expect(points.at(-1)).toMatchObject({ count: "1500", attributes: { "otel.metric.overflow": true } });
});

verifies("telemetry:off", "nothing starts, the exporter is not loaded, and no span is made", async () => {
  expect(await startTelemetry({ enabled: false })).toBeUndefined();
  expect(await startTelemetry({})).toBeUndefined();
  const program = `
    import { registerHooks } from "node:module";
    const loaded = [];
    registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context); } });
    const { startTelemetry } = await import("keyhole");
    const { createGateway, defineDomain, defineTool } = await import("keyhole");
    let trace = "none";
    const look = { name: "look", description: "Looks.", execute: (_, context) => { trace = context.trace; return 1; } };
    const domains = [defineDomain({ name: "a", description: "A.", tools: [defineTool(look)] })];
    await startTelemetry({});
    const answer = await createGateway({ domains }).exec({ op: "a.look", args: {} });
    console.log(JSON.stringify({ ok: answer.ok, trace: trace ?? null, otel: loaded.filter((url) => /otlp|opentelemetry/.test(url)) }));`;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
    encoding: "utf8",
  });
  expect(JSON.parse(stdout || "null"), stderr).toEqual({ ok: true, trace: null, otel: [] });
});

test.each([
  [`00-${"1".repeat(32)}-${"2".repeat(16)}-01`, true],
  [`00-${"1".repeat(32)}-${"2".repeat(16)}-00`, true],
  [`01-${"1".repeat(32)}-${"2".repeat(16)}-01-more`, true],
  [`00-${"1".repeat(32)}-${"2".repeat(16)}-01-more`, false],
  [`ff-${"1".repeat(32)}-${"2".repeat(16)}-01`, false],
  [`00-${"0".repeat(32)}-${"2".repeat(16)}-01`, false],
  [`00-${"1".repeat(32)}-${"0".repeat(16)}-01`, false],
  [`00-${"A".repeat(32)}-${"2".repeat(16)}-01`, false],
  ["", false],
  [7, false],
])("traceparent %s is read: %s", (text, isRead) => {
  expect(parseTraceparent(text) !== undefined).toBe(isRead);
});
