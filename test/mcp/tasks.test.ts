// MCP tasks, with a server of the registry whose tool runs only as a task.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { Gateway } from "keyhole";
import { createMcpServer } from "keyhole/mcp";
import { afterAll, beforeAll, expect } from "vitest";
import { z } from "zod";
import { SURFACES } from "../../src/core/surfaces/surface-names.ts";
import { createMcpSource } from "../../src/sources/mcp/mcp-source.ts";
import { verifies } from "../claims.ts";
import { eventually, gatewayOf, operator, PATIENT } from "../upstream-kit.ts";
import { connect, connectHttp, ERAS } from "./connect.ts";
import { SURFACE_CALLS } from "./surface-calls.ts";

const TOOL = "everything_simulate-research-query";
const OP = "everything.simulate-research-query";
const EVERYTHING = join(
  dirname(createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/package.json")),
  "dist/index.js",
);
const anything = z.looseObject({});
const progressOf = (received: readonly string[]) =>
  received.filter((message) => message.includes("notifications/progress"));

/** All tests share one server: each of its tasks takes seconds. */
const folder = mkdtempSync(join(tmpdir(), "keyhole-test-"));
const log = join(folder, "tap.jsonl");
let gateway: Gateway;
beforeAll(async () => {
  const config = {
    command: process.execPath,
    args: [resolve("lab/tap.ts"), log, process.execPath, EVERYTHING],
  };
  gateway = gatewayOf([createMcpSource("everything", config, { trusted: true, limits: PATIENT })]);
  await eventually(async () => expect((await gateway.view()).find(OP)).toBeDefined(), 30_000);
});
afterAll(async () => {
  await gateway.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Counts the requests of a method that the server gets from now on. */
function countSent(method: string): () => number {
  const count = () => readFileSync(log, "utf8").split(`"method":"${method}"`).length - 1;
  const before = count();
  return () => count() - before;
}

verifies(
  "mcp:tasks",
  "a tool that runs only as a task answers on every surface, and reports its progress",
  async () => {
    const sentResults = countSent("tasks/result");
    const answers = ERAS.flatMap((era) =>
      SURFACES.map(async (surface) => {
        const { client, received } = await connect(createMcpServer(gateway, { surface }), era);
        const call = SURFACE_CALLS[surface]("everything", "simulate-research-query", { topic: "tides" });
        const answer = await client.callTool(call, { onprogress: () => {} });
        expect(answer.isError, JSON.stringify(answer)).not.toBe(true);
        expect(JSON.stringify(answer.content)).toContain("Research Report: tides");
        expect(progressOf(received).join("\n")).toMatch(/Gathering|Analyzing|Synthesizing|Generating/);
      }),
    );
    await Promise.all(answers);
    expect(sentResults()).toBe(ERAS.length * SURFACES.length);
  },
);

verifies(
  "mcp:tasks",
  "a call that is cancelled cancels its task at the server, on every surface",
  async () => {
    const sentCancels = countSent("tasks/cancel");
    const calls = SURFACES.map(async (surface) => {
      const { client, received } = await connect(createMcpServer(gateway, { surface }), ERAS[1]);
      const gone = new AbortController();
      const call = SURFACE_CALLS[surface]("everything", "simulate-research-query", { topic: "tides" });
      const answer = client.callTool(call, { signal: gone.signal, onprogress: () => {} }).catch(String);
      await eventually(() => expect(progressOf(received).length).toBeGreaterThan(0));
      gone.abort();
      expect(await answer).toContain("abort");
    });
    await Promise.all(calls);
    await eventually(() => expect(sentCancels()).toBe(SURFACES.length));
  },
);

verifies("mcp:tasks", "a client of 2025-11-25 that asks for a task gets one", async () => {
  const clients = [connect, connectHttp].map(async (over) => {
    const { client } = await over(createMcpServer(gateway, { surface: "native" }), "2025-11-25");
    expect(client.getServerCapabilities()).toMatchObject({
      tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
    });
    const { tools } = await client.listTools();
    expect(tools.find(({ name }) => name === TOOL)).toMatchObject({ execution: { taskSupport: "optional" } });
    expect(tools.find(({ name }) => name === "everything_echo")?.execution).toBeUndefined();

    const ask = (method: string, params: object) =>
      client.request({ method, params: { ...params } }, anything) as Promise<Record<string, unknown>>;
    const args = { name: TOOL, arguments: { topic: "tides" }, task: { ttl: 60_000 } };
    const [made, stopped] = await Promise.all([ask("tools/call", args), ask("tools/call", args)]);
    const { taskId } = made.task as { taskId: string };
    const other = (stopped.task as { taskId: string }).taskId;
    expect(made.task).toMatchObject({ status: "working", ttl: 60_000 });
    expect(await ask("tasks/get", { taskId })).toMatchObject({ taskId, status: "working" });
    const { tasks } = (await ask("tasks/list", {})) as { tasks: { taskId: string }[] };
    expect(tasks.map((task) => task.taskId).sort()).toEqual([taskId, other].sort());

    expect(await ask("tasks/cancel", { taskId: other })).toMatchObject({ status: "cancelled" });
    await expect(ask("tasks/cancel", { taskId: other })).rejects.toThrow("cancelled");
    await expect(ask("tasks/get", { taskId: "guessed" })).rejects.toThrow("guessed");

    const result = await ask("tasks/result", { taskId });
    expect(JSON.stringify(result.content)).toContain("Research Report: tides");
    expect(result._meta).toMatchObject({ "io.modelcontextprotocol/related-task": { taskId } });
    expect(await ask("tasks/get", { taskId })).toMatchObject({ status: "completed" });
    await expect(
      ask("tools/call", { name: "everything_echo", arguments: { message: "hi" }, task: {} }),
    ).rejects.toThrow("task");
  });
  await Promise.all(clients);
});

verifies("mcp:tasks", "a task belongs to the principal that made it", async () => {
  const server = createMcpServer(gateway, { surface: "native" });
  const [ann, bob] = await Promise.all(
    ["ann", "bob"].map(async (id) => {
      const { client } = await connectHttp(server, "2025-11-25", { principal: { ...operator, id } });
      return (method: string, params: object) =>
        client.request({ method, params: { ...params } }, anything) as Promise<Record<string, unknown>>;
    }),
  );
  const made = await ann!("tools/call", { name: TOOL, arguments: { topic: "tides" }, task: {} });
  const { taskId } = made.task as { taskId: string };
  for (const method of ["tasks/get", "tasks/result", "tasks/cancel"])
    await expect(bob!(method, { taskId })).rejects.toThrow("Unknown task");
  expect(await bob!("tasks/list", {})).toMatchObject({ tasks: [] });
  expect(await ann!("tasks/cancel", { taskId })).toMatchObject({ status: "cancelled" });
});

verifies(
  "mcp:tasks",
  "a client of 2026-07-28 that takes tasks gets one, and others get the result",
  async () => {
    const sentResults = countSent("tasks/result");
    const server = createMcpServer(gateway, { surface: "native" });
    let id = 0;
    /** The SDK's client of this revision knows no tasks. */
    const ask = async (method: string, params: { name?: string; taskId?: string }, takes = true) => {
      const extensions = takes ? { "io.modelcontextprotocol/tasks": {} } : {};
      const _meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
        "io.modelcontextprotocol/clientCapabilities": { extensions },
      };
      const headers = {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": method,
        ...((params.name ?? params.taskId) && { "mcp-name": params.name ?? params.taskId }),
      } as Record<string, string>;
      const body = JSON.stringify({ jsonrpc: "2.0", id: ++id, method, params: { ...params, _meta } });
      const request = new Request("http://localhost/mcp", { method: "POST", headers, body });
      const text = await (await server.fetch(request, { principal: operator })).text();
      const { result, error } = JSON.parse(
        text.match(/^(?:data: )?(\{.*"(?:result|error)".*\})$/m)?.[1] ?? "{}",
      );
      return { result, error };
    };
    const call = { name: TOOL, arguments: { topic: "tides" } };
    const discovered = await ask("server/discover", {});
    expect(discovered.result.capabilities.extensions).toHaveProperty(["io.modelcontextprotocol/tasks"]);
    expect(discovered.result.capabilities.tasks).toBeUndefined();

    const [made, dropped, whole] = await Promise.all([
      ask("tools/call", call),
      ask("tools/call", call),
      ask("tools/call", call, false),
    ]);
    expect(whole.result).toMatchObject({ resultType: "complete" });
    expect(JSON.stringify(whole.result.content)).toContain("Research Report: tides");
    const { taskId, ...task } = made.result;
    expect(task).toMatchObject({ resultType: "task", status: "working", pollIntervalMs: 1_000 });
    await eventually(async () => {
      const { result } = await ask("tasks/get", { taskId });
      expect(result).toMatchObject({ resultType: "complete", taskId, status: "completed" });
      expect(JSON.stringify(result.result.content)).toContain("Research Report: tides");
    });
    const other = dropped.result.taskId;
    expect((await ask("tasks/cancel", { taskId: other })).result).toMatchObject({ resultType: "complete" });
    expect((await ask("tasks/get", { taskId: "guessed" })).error).toMatchObject({ code: -32602 });
    expect(sentResults()).toBeGreaterThanOrEqual(2);
  },
);
