// A call that nobody can be asked about, over both protocol revisions, HTTP and the JSON API, in one process.
import { createGateway, type Principal } from "keyhole";
import { serveConsole } from "keyhole/http";
import { createMcpServer } from "keyhole/mcp";
import { describe, expect, onTestFinished, test } from "vitest";
import { openGrants } from "../../src/core/access/grants.ts";
import { createWaitingCalls } from "../../src/core/access/waiting-calls.ts";
import { createMemoryRecords } from "../../src/core/storage/records.ts";
import { faceApiOf } from "../../src/gateway/face-api.ts";
import { connect, connectHttp, ERAS } from "../mcp/connect.ts";
import { createShop } from "../run-kit.ts";
import { callText } from "./program.ts";

const ann: Principal = { id: "ann", scopes: [], allowWrite: true };
const bob: Principal = { ...ann, id: "bob" };
const DELETE = { op: "shop.order.delete", args: { id: 1 } };

function open() {
  const { domain, log } = createShop();
  const gateway = createGateway({ domains: [domain], principal: ann });
  onTestFinished(() => gateway.close());
  const waiting = createWaitingCalls(openGrants(createMemoryRecords(), "call"));
  faceApiOf(gateway).keepQuestions(waiting);
  const approveAll = async () => {
    for (const call of await waiting.list()) await waiting.approve(call, "person");
  };
  return { gateway, domain, log, waiting, approveAll };
}

describe.each(ERAS)("a client of %s without forms", (era) => {
  test.each([
    ["stdio", connect],
    ["http", connectHttp],
  ] as const)("T22: over %s runs the approved call once, and nobody else runs it", async (_, connected) => {
    const { gateway, domain, log, waiting, approveAll } = open();
    const servers = [ann, bob].map((principal) => createMcpServer(gateway, { principal }));
    onTestFinished(async () => void (await Promise.all(servers.map((server) => server.close()))));
    const [own, other] = await Promise.all(
      servers.map(async (server) => (await connected(server, era)).client),
    );
    expect(await callText(own!, "exec", DELETE)).toContain("keyhole approve call:");
    await approveAll();
    await callText(other!, "exec", DELETE);
    await callText(own!, "exec", { ...DELETE, args: { id: 2 } });
    expect(log).toEqual([]);
    await callText(own!, "exec", { ...DELETE, dry_run: true });
    expect(log).toEqual([]);
    expect(await callText(own!, "exec", { ...DELETE, dry_run: false })).toContain("gone");
    expect(log).toEqual(["delete 1"]);
    expect(await callText(own!, "exec", DELETE)).toContain("keyhole approve call:");
    // An approval of the tool as it was does not count for what it becomes.
    await approveAll();
    const tools = (domain.tools ?? []).map((tool) =>
      tool.name === "delete_order" ? { ...tool, description: "Delete an order and its customer." } : tool,
    );
    await gateway.setDomains([{ ...domain, tools }]);
    expect(await callText(own!, "exec", DELETE)).toContain("keyhole approve call:");
    expect(log).toEqual(["delete 1"]);
    expect((await waiting.list()).length).toBeGreaterThan(0);
  });
});

test("T22: the JSON API runs a destructive call dry and says how; a batch says it for each call", async () => {
  const { gateway, log, approveAll } = open();
  const server = createMcpServer(gateway);
  const http = await serveConsole(gateway, server, { authenticate: async () => ann });
  onTestFinished(async () => {
    await http.close();
    await server.close();
  });
  const post = async (path: string, body: object) => {
    const response = await fetch(`${new URL(http.url).origin}/api/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer t" },
      body: JSON.stringify(body),
    });
    return (await response.json()) as { ok: boolean; text: string };
  };
  const requests = [1, 2].map((id) => ({ exec: { ...DELETE, args: { id } } }));
  const batch = await post("batch", { requests });
  expect(batch.text.match(/keyhole approve call:\w+/g)).toHaveLength(2);
  expect((await post("exec", { ...DELETE, dry_run: false })).ok).toBe(false);
  expect(log).toEqual([]);
  await approveAll();
  expect(await post("batch", { requests })).toMatchObject({ ok: true });
  expect(log).toEqual(["delete 1", "delete 2"]);
});

test("T22: a key runs a call once, also one that a person approves later", async () => {
  const { gateway, log, approveAll } = open();
  const keyed = { ...DELETE, idempotency_key: "k" };
  expect(await gateway.exec(keyed)).toMatchObject({ ok: true, meta: { dryRun: true } });
  await approveAll();
  expect(await gateway.exec(keyed)).toMatchObject({ ok: true, result: { gone: 1 } });
  expect(await gateway.exec(keyed)).toMatchObject({ ok: true, result: { gone: 1 } });
  expect(log).toEqual(["delete 1"]);
});
