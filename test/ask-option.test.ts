// The option `ask`: which calls need a person's approval, by the word of the gateway, a domain or a source.
import { resolve } from "node:path";
import { createGateway, type Gateway, type GatewayOptions } from "keyhole";
import { createMcpServer } from "keyhole/mcp";
import { createMcpSource, fromMcpConfig } from "keyhole/sources";
import { describe, expect, onTestFinished, test } from "vitest";
import { sendJson, startLoopbackApi } from "./loopback-api.ts";
import { connect, ERAS } from "./mcp/connect.ts";
import { openPets } from "./pet-api.ts";
import { openOwn } from "./recipe-kit.ts";
import { createShop, writer } from "./run-kit.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { chaos, operator, PATIENT } from "./upstream-kit.ts";

const CREATE = { op: "shop.order.create", args: { customer: "c9" } };
const REFUSED = { ok: false, error: { code: "APPROVAL_REQUIRED" } };

function open(options: Partial<GatewayOptions>, ask?: GatewayOptions["ask"]) {
  const { domain, log } = createShop();
  const domains = [{ ...domain, ...(ask && { ask }) }];
  const gateway = createGateway({ domains, principal: writer, ...options });
  onTestFinished(() => gateway.close());
  return { gateway, log };
}

test("a gateway needs no domains", async () => {
  const gateway = createGateway({});
  expect(await gateway.ask({ query: "orders" })).toMatchObject({ ok: true, hits: [] });
  await gateway.close();
});

describe.each([
  ["the gateway", () => open({ ask: "writes" })],
  ["the domain", () => open({}, "writes")],
  ["the stricter of both", () => open({ ask: "writes" }, "destructive")],
])("writes need approval by the word of %s", (_, opened) => {
  test("where nobody can be asked, they are refused, and run dry on request", async () => {
    const { gateway, log } = opened();
    const refused = await gateway.exec(CREATE);
    expect(refused).toMatchObject(REFUSED);
    expect(refused.text).toContain(
      "shop.order.create runs only after a person has approved this exact call, and nobody could be asked.",
    );
    const dry = await gateway.exec({ ...CREATE, dryRun: true });
    expect(dry).toMatchObject({ ok: true, result: { simulated: true } });
    expect(await gateway.exec({ op: "shop.order.delete", args: { id: 1 }, dryRun: false })).toMatchObject(
      REFUSED,
    );
    expect(await gateway.exec({ op: "shop.order.delete", args: { id: 1 } })).toMatchObject({
      result: { would_delete: 1 },
    });
    expect(await gateway.exec({ op: "shop.order.list" })).toMatchObject({ ok: true });
    expect(log).toEqual([]);
    expect((await gateway.help({ path: "shop.order.create" })).text).toContain("A person must approve");
    expect((await gateway.help({ path: "shop.order.list" })).text).not.toContain("A person must approve");
  });
});

test("the person is asked about exactly the call, and why", async () => {
  const asked: unknown[] = [];
  const approve: GatewayOptions["approve"] = ({ op, args, why }) => asked.push([op, args, why]) > 0;
  const { gateway, log } = open({ ask: "destructive", approve });
  expect(await gateway.exec(CREATE)).toMatchObject({ ok: true });
  await gateway.exec({ op: "shop.order.delete", args: { id: 1 }, dryRun: false });
  expect(asked).toEqual([["shop.order.delete", { id: 1 }, "destroys"]]);
  expect(log).toEqual(["create c9", "delete 1"]);
});

test("a domain that asks about fewer calls than before is heard at once", async () => {
  const { domain } = createShop();
  const gateway = createGateway({ domains: [{ ...domain, ask: "writes" }], principal: writer });
  onTestFinished(() => gateway.close());
  expect(await gateway.exec(CREATE)).toMatchObject(REFUSED);
  await gateway.setDomains([domain]);
  expect(await gateway.exec(CREATE)).toMatchObject({ ok: true });
});

test("a misspelt choice of a domain is refused", () => {
  expect(() => open({}, "write" as "writes")).toThrow(/domain shop: ask: /);
});

test.each(ERAS)("a client of %s shows the question, and one without forms is refused", async (era) => {
  const { gateway, log } = open({ ask: "writes" });
  const server = createMcpServer(gateway, { structured: true });
  const { client: mute } = await connect(server, era);
  const refused = await mute.callTool({ name: "exec", arguments: CREATE });
  expect(refused.structuredContent).toMatchObject(REFUSED);
  const { client } = await connect(server, era, { capabilities: { elicitation: { form: {} } } });
  const questions: string[] = [];
  client.setRequestHandler("elicitation/create", async ({ params }) => {
    questions.push(params.message);
    return { action: "accept", content: { approve: true } };
  });
  const done = await client.callTool({ name: "exec", arguments: CREATE });
  expect(done.structuredContent).toMatchObject({ ok: true });
  expect(questions).toEqual(['Run shop.order.create with {"customer":"c9"}?']);
  expect(log).toEqual(["create c9"]);
  await server.close();
});

test("a recipe with a write of a domain that asks needs one approval as a whole", async () => {
  const { domain, log } = createShop();
  const asked: string[] = [];
  const { gateway } = openOwn({
    domains: [{ ...domain, ask: "writes" }],
    approve: ({ op }) => asked.push(op) > 0,
  });
  const keep = { name: "order-again", description: "Orders again.", params: {} };
  const code = "return (await call('shop.order.create', { customer: 'c9' })).customer";
  expect(await gateway.run({ code, keep })).toMatchObject({ ok: true, kept: { lane: "write" } });
  asked.length = 0;
  expect(await gateway.exec({ op: "recipes.order-again" })).toMatchObject({ ok: true });
  expect(asked).toEqual(["recipes.order-again"]);
  expect(log).toEqual(["create c9", "create c9"]);
  const refused = await gateway.exec({ op: "recipes.order-again" }, { approve: () => false });
  expect(refused).toMatchObject(REFUSED);
});

test("an OpenAPI source asks about the calls that write", async () => {
  const api = await startLoopbackApi();
  api.answer = (_, response) => sendJson(response, { ok: true });
  const gateway = openPets(api, { ask: "writes" });
  expect(await gateway.exec({ op: "pets.pets.create", args: { name: "Tom" } })).toMatchObject(REFUSED);
  expect(await gateway.exec({ op: "pets.pets.list" })).toMatchObject({ ok: true });
  expect(api.seen.map(({ method }) => method)).toEqual(["GET"]);
  await gateway.close();
  await api.close();
});

describe("an MCP server", () => {
  const add = (gateway: Gateway) => gateway.exec({ op: "bad.add", args: {} });
  const command = process.execPath;
  const args = [resolve("src/testing/chaos-upstream.ts")];
  const options = { trusted: true, limits: PATIENT };
  const serve = (source: ReturnType<typeof createMcpSource>) => {
    const gateway = createGateway({ sources: [source], principal: operator });
    onTestFinished(() => gateway.close());
    return gateway;
  };

  test("asks by its entry in the config, and by the options of its source", async () => {
    const entry = { command, args, ask: "writes" as const };
    const [configured] = fromMcpConfig({ mcpServers: { bad: entry } }, { ...options, ask: "destructive" });
    expect(await add(serve(configured!))).toMatchObject(REFUSED);
    expect(await add(serve(createMcpSource("bad", entry, options)))).toMatchObject(REFUSED);
    expect(await add(serve(chaos("bad", { ask: "writes" })))).toMatchObject(REFUSED);
    expect(await add(serve(chaos("bad")))).toMatchObject({ ok: true });
  });

  test("asks with a listing of an earlier start too, which another choice does not discard", async () => {
    const cached = { ...options, cacheDirectory: temporaryFolder() };
    const first = serve(createMcpSource("bad", { command, args }, cached));
    await first.ready();
    await first.close();
    const source = createMcpSource("bad", { command, args, ask: "writes" }, cached);
    expect(await add(serve(source))).toMatchObject(REFUSED);
    expect(source.diagnostics()).toMatchObject({ fromCache: true });
  });

  test("is refused with a choice that does not exist", () => {
    const config = { mcpServers: { bad: { command, ask: "sometimes" } } };
    expect(() => fromMcpConfig(config)).toThrow(expect.objectContaining({ code: "SERVER_CONFIG_INVALID" }));
  });
});
