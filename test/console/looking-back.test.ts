import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { fromMcpConfig } from "keyhole/sources";
import { expect, onTestFinished, test } from "vitest";
import type {
  FiguresAnswer,
  OverviewAnswer,
  UpstreamsAnswer,
} from "../../src/faces/http/endpoints/api-types.ts";
import { faceApiOf } from "../../src/gateway/face-api.ts";
import { createMemoryAuditStore } from "../audit-kit.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { eventually } from "../upstream-kit.ts";
import { serveShop } from "./console-kit.ts";

test("the audit log is paged back by time, and filtered by server and outcome", async () => {
  const served = await serveShop();
  onTestFinished(() => served.close());
  const admin = await served.open();
  for (let at = 0; at < 7; at += 1)
    await served.as("clerk", "/api/exec", { op: "shop.order.create", args: { customer: `c${at}` } });
  await served.as("clerk", "/api/exec", { op: "shop.order.delete", args: { id: 1 } });
  await served.as("clerk", "/api/exec", { op: "shop.order.create", args: { customer: 5 } });
  type Answer = { records: { at: string; hash: string; outcome: string; decided: string }[]; older?: string };
  const all = (await admin.json<Answer>("/api/audit?server=shop")).records;
  const pages: Answer["records"] = [];
  for (let before = ""; ; ) {
    const { records, older } = await admin.json<Answer>(
      `/api/audit?server=shop&limit=3${before && `&before=${encodeURIComponent(before)}`}`,
    );
    pages.push(...records);
    expect(records.length).toBeLessThanOrEqual(3);
    if (older === undefined) break;
    before = older;
  }
  expect(pages).toEqual(all);
  expect(new Set(all.map(({ hash }) => hash)).size).toBe(all.length);
  expect(all.length).toBeGreaterThanOrEqual(8);
  const dry = (await admin.json<Answer>("/api/audit?outcome=dry-run")).records;
  expect(dry).toMatchObject([{ op: "shop.order.delete", decided: "dry-run", outcome: "ok" }]);
  expect((await admin.json<Answer>("/api/audit?server=other")).records).toEqual([]);
});

test("figures count calls by agent, server, tool and day, with errors and times, and outlive a restart", async () => {
  const store = createMemoryAuditStore();
  const create = { op: "shop.order.create", args: { customer: "c1" } };
  const first = await serveShop({ audit: { store } });
  await first.as("clerk", "/api/exec", create);
  await first.as("clerk", "/api/exec", { op: "shop.order.delete", args: { id: 1 } });
  await first.close();
  const second = await serveShop({ audit: { store } });
  onTestFinished(() => second.close());
  await second.as("clerk", "/api/exec", create);
  await second.as("reader", "/api/exec", create);
  const figures = await (await second.open()).json<FiguresAnswer>("/api/figures");
  const ms = { half: expect.any(Number), most: expect.any(Number), slowest: expect.any(Number) };
  // The dry run counts nowhere.
  const [clerk, reader] = figures.agents;
  expect(clerk).toMatchObject({ name: "clerk", calls: 2, failed: 0, errors: [], ms });
  expect(reader).toMatchObject({ name: "reader", calls: 1, failed: 1, errors: [{ times: 1 }] });
  expect(figures.servers).toMatchObject([{ name: "shop", calls: 3, failed: 1 }]);
  expect(figures.tools).toMatchObject([{ name: "shop.order.create", calls: 3, failed: 1 }]);
  expect(figures.days.reduce((sum, { calls }) => sum + calls, 0)).toBe(3);
});

test("tokens by day are kept over a restart, in a file of the gateway", async () => {
  const file = join(temporaryFolder(), "console.db");
  const first = await serveShop({}, { file });
  await first.as("clerk", "/api/ask", { query: "list orders" });
  const before = (await (await first.open()).json<OverviewAnswer>("/api/overview")).totals;
  expect(before).toMatchObject({ calls: 1, discovery: expect.any(Number) });
  await first.close();
  const second = await serveShop({}, { file });
  onTestFinished(() => second.close());
  const admin = await second.open();
  expect((await admin.json<OverviewAnswer>("/api/overview")).totals).toEqual(before);
  await second.as("clerk", "/api/ask", { query: "list orders" });
  expect((await admin.json<OverviewAnswer>("/api/overview")).totals.calls).toBe(2);
});

test("a menu that is shown while a server starts is compared with the list that its client would have later", async () => {
  const late = `setTimeout(() => import(${JSON.stringify(join(import.meta.dirname, "../../src/testing/chaos-upstream.ts"))}), 4_000)`;
  const mcpServers = { chaos: { command: process.execPath, args: ["-e", late] } };
  const shop = await serveShop(
    { sources: fromMcpConfig({ mcpServers }, { trusted: true }) },
    { wayOf: async () => ({ shows: "names" }) },
  );
  onTestFinished(() => shop.close());
  const list = async (name: string) => {
    const client = new Client({ name, version: "1" });
    const requestInit = { headers: { authorization: "Bearer clerk" } };
    await client.connect(new StreamableHTTPClientTransport(new URL(shop.http.url), { requestInit }));
    onTestFinished(() => client.close());
    await client.listTools();
  };
  await list("early");
  await eventually(async () =>
    expect((await shop.gateway.ask({ query: "add two numbers" })).text).toContain("chaos://tools/add"),
  );
  await list("late");
  const admin = await shop.open();
  await eventually(async () => {
    const { clients } = await admin.json<OverviewAnswer>("/api/overview");
    const [early, later] = ["early", "late"].map((name) => clients.find((one) => one.name === name));
    expect(early).toMatchObject({ listings: 1, alone: later?.alone, everything: later?.everything });
  });
});

test("finding and results are told apart by agent and day, and tools that wait for approval are in no list", async () => {
  const mcpServers = { chaos: { command: process.execPath, args: ["src/testing/chaos-upstream.ts"] } };
  const shop = await serveShop(
    { sources: fromMcpConfig({ mcpServers }) },
    { wayOf: async () => ({ shows: "names" }) },
  );
  onTestFinished(() => shop.close());
  const list = async (name: string) => {
    const menu = await shop.gateway.menu();
    await faceApiOf(shop.gateway).noteMenu(menu, { clientName: name });
  };
  const admin = await shop.open();
  await eventually(async () => {
    const [chaos] = (await admin.json<UpstreamsAnswer>("/api/upstreams")).upstreams;
    expect(chaos).toMatchObject({ tools: 0, unapproved: chaos?.entries });
    expect(chaos?.entries).toBeGreaterThan(1);
  });
  await list("waiting");
  await admin.json("/api/overview");
  await shop.as("clerk", "/api/ask", { query: "list orders" });
  await shop.as("clerk", "/api/exec", { op: "shop.order.create", args: { customer: "c1" } });
  const { agents, days, tools } = await admin.json<FiguresAnswer>("/api/figures");
  for (const [row] of [agents, days])
    expect(row).toMatchObject({ calls: 1, finding: expect.any(Number), tokens: expect.any(Number) });
  expect(tools[0]).not.toHaveProperty("finding");
  await shop.gateway.pins.approve({ pins: shop.gateway.pins.list() }, "test");
  await list("approved");
  const { clients, days: menus } = await admin.json<OverviewAnswer>("/api/overview");
  const [waiting, approved] = ["waiting", "approved"].map(
    (name) => clients.find((one) => one.name === name)!,
  );
  expect(approved!.alone).toBeGreaterThan(waiting!.alone);
  expect(menus).toMatchObject([{ name: days[0]!.name, listings: 2, discovery: agents[0]!.finding }]);
});

test("a server that fails again and again is one notice, with how often", async () => {
  const script = "console.error('no token is set'); process.exit(1)";
  const mcpServers = { broken: { command: process.execPath, args: ["-e", script] } };
  const shop = await serveShop({ sources: fromMcpConfig({ mcpServers }, { trusted: true }) });
  onTestFinished(() => shop.close());
  const admin = await shop.open();
  for (let at = 0; at < 2; at += 1) await admin.json("/api/upstreams/restart", { id: "mcp:broken" });
  await eventually(async () => {
    const { notices } = await admin.json<OverviewAnswer>("/api/overview");
    const [first, ...others] = notices.filter(({ detail }) => detail.includes("no token is set"));
    expect(first).toMatchObject({ what: "mcp:broken failed" });
    expect(first?.times).toBeGreaterThan(1);
    expect(others).toEqual([]);
  });
});
