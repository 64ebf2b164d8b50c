import { PGlite } from "@electric-sql/pglite";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createGateway, defineDomain, defineTool, type Gateway } from "keyhole";
import { createMcpServer } from "keyhole/mcp";
import { createPostgresState, type PostgresStateOptions } from "keyhole/postgres";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { verifies } from "../claims.ts";
import { chaos, gatewayOf, operator } from "../upstream-kit.ts";

const pglite = new PGlite();
beforeAll(() => pglite.waitReady);
afterAll(() => pglite.close());

type StateClient = PostgresStateOptions["client"];

async function openState(table: string, client: StateClient = pglite) {
  const state = await createPostgresState({ client, table });
  onTestFinished(() => state.close());
  return state;
}

/** A gateway before a server whose definitions need approval. */
async function openUpstream(table: string, client?: StateClient): Promise<Gateway> {
  const { stores } = await openState(table, client);
  const gateway = gatewayOf([chaos("bad", { trusted: false })], stores);
  onTestFinished(() => gateway.close());
  await gateway.ready();
  return gateway;
}

verifies(
  "pins:fail-closed",
  "what one gateway has revoked is neither shown nor run by another, from that moment on",
  async () => {
    const [one, other] = [await openUpstream("revoked"), await openUpstream("revoked")];
    for (let round = 0; round < 5; round += 1) {
      await one.pins.approve("all");
      const [ran, shown] = await Promise.all([
        other.exec({ op: "bad.add", args: { a: 1 } }),
        other.ask({ query: "bad.add" }),
      ]);
      expect(ran).toMatchObject({ ok: true });
      expect(shown.text).toContain("Adds two numbers");
      await one.pins.revoke("all");
      const answers = await Promise.all([
        other.exec({ op: "bad.add", args: { a: 1 } }),
        other.ask({ query: "bad.add" }),
        other.help({ path: "bad.add" }),
        other.exec({ op: "bad.add", args: { a: 1 } }),
      ]);
      expect(answers.map(({ text }) => text).join("\n")).not.toContain("Adds two numbers");
      expect(answers[0]).toMatchObject({ ok: false, error: { code: "UNAVAILABLE" } });
      expect(answers[3]).toMatchObject({ ok: false, error: { code: "UNAVAILABLE" } });
      const menu = await other.menu({ surface: "native" });
      expect(JSON.stringify(menu)).not.toContain("Adds two numbers");
    }
  },
);

verifies(
  "pins:fail-closed",
  "without its database a gateway shows and runs nothing that needs approval",
  async () => {
    let isDown = false;
    const client: StateClient = {
      query: (sql, params) =>
        isDown ? Promise.reject(new Error("no route to 10.0.0.7")) : pglite.query(sql, params),
    };
    const gateway = await openUpstream("down", client);
    await gateway.pins.approve("all");
    expect(await gateway.exec({ op: "bad.add", args: { a: 1 } })).toMatchObject({ ok: true });
    isDown = true;
    const refused = await gateway.exec({ op: "bad.add", args: { a: 1 } });
    expect(refused).toMatchObject({ ok: false, error: { code: "STATE_UNREACHABLE" } });
    expect(refused.text).not.toContain("10.0.0.7");
    await expect(gateway.view()).rejects.toMatchObject({ code: "STATE_UNREACHABLE" });
    isDown = false;
    expect(await gateway.exec({ op: "bad.add", args: { a: 1 } })).toMatchObject({ ok: true });
  },
);

verifies("pins:fail-closed", "a replica, which may be behind, is not read", async () => {
  let isReplica = true;
  const client: StateClient = {
    query: (sql, params) =>
      pglite.query(isReplica ? sql.replace("pg_is_in_recovery()", "true") : sql, params),
  };
  await expect(createPostgresState({ client, table: "replica" })).rejects.toMatchObject({
    code: "STATE_UNREACHABLE",
  });
  isReplica = false;
  const gateway = await openUpstream("replica", client);
  await gateway.pins.approve("all");
  isReplica = true;
  const refused = await gateway.ask({ query: "bad.add" });
  expect(refused).toMatchObject({ ok: false, error: { code: "STATE_UNREACHABLE" } });
  isReplica = false;
});

test("gateways learn from each other's use within seconds", async () => {
  const domains = [
    defineDomain({
      name: "office",
      description: "Papers and post.",
      tools: ["scan_paper", "scan_paper_fast", "find_stamp", "file_away"].map((name) =>
        defineTool({ name, description: `The tool ${name}.`, execute: () => name }),
      ),
    }),
  ];
  const [one, other] = [await openState("learning"), await openState("learning")].map(({ stores }) =>
    createGateway({ domains, ...stores }),
  ) as [Gateway, Gateway];
  const first = async (gateway: Gateway) => (await gateway.ask({ query: "letters into cellar" })).hits[0]?.op;
  expect(await first(other)).not.toBe("office.file_away");
  for (let time = 0; time < 4; time += 1) {
    await one.ask({ query: "letters into cellar" });
    await one.exec({ op: "office.file_away" });
  }
  await expect.poll(() => first(other), { timeout: 20_000 }).toBe("office.file_away");
  await Promise.all([one.close(), other.close()]);
});

verifies("mcp:approval", "a question of one gateway is answered at another, and counts once", async () => {
  let runs = 0;
  const send = defineTool({
    name: "send_refund",
    op: "shop.refund.send",
    description: "Send a refund.",
    lane: "write",
    requiresConfirmation: true,
    execute: () => {
      runs += 1;
      return "sent";
    },
  });
  const domains = [defineDomain({ name: "shop", description: "A shop.", tools: [send] })];
  const servers = await Promise.all(
    [1, 2].map(async () => {
      const { stores } = await openState("asking");
      const gateway = createGateway({ domains, principal: operator, ...stores });
      onTestFinished(() => gateway.close());
      return createMcpServer(gateway);
    }),
  );
  const requests: { readonly turn: number; readonly request: Request }[] = [];
  let turn = 0;
  const transport = new StreamableHTTPClientTransport(new URL("http://localhost/mcp"), {
    fetch: async (url, init) => {
      const request = new Request(url, init as RequestInit);
      turn += 1;
      requests.push({ turn, request: request.clone() });
      return servers[turn % 2]!.fetch(request);
    },
  });
  const client = new Client(
    { name: "test", version: "1" },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: { pin: "2026-07-28" } } },
  );
  client.setRequestHandler("elicitation/create", async () => ({
    action: "accept",
    content: { approve: true },
  }));
  await client.connect(transport);
  const done = await client.callTool({ name: "exec", arguments: { op: "shop.refund.send", args: {} } });
  expect(JSON.stringify(done.content)).toContain("sent");
  expect(runs).toBe(1);
  const { turn: last, request } = requests.at(-1)!;
  expect(await request.clone().text()).toContain("requestState");
  for (const server of [servers[(last + 1) % 2]!, servers[last % 2]!]) await server.fetch(request.clone());
  expect(runs).toBe(1);
});

test("a server whose consent one gateway took back is not used by another", async () => {
  const states = [await openState("consents"), await openState("consents")];
  const sources = states.map(({ consents }) => chaos("bad", { mayStart: consents.isGiven }));
  const [one, other] = sources.map((source, at) => gatewayOf([source], states[at]!.stores)) as [
    Gateway,
    Gateway,
  ];
  for (const gateway of [one, other]) onTestFinished(() => gateway.close());
  const add = () => other.exec({ op: "bad.add", args: { a: 1 } });
  expect((await add()).ok).toBe(false);
  await states[0]!.consents.give([sources[0]!.program()]);
  await expect
    .poll(
      async () => {
        await other.sources.refresh("bad").catch(() => {});
        return (await add()).ok;
      },
      { timeout: 20_000 },
    )
    .toBe(true);
  await states[0]!.consents.revoke([sources[0]!.program()]);
  expect((await add()).ok).toBe(false);
});

test("gateways that start together create the tables once, and a later start changes nothing", async () => {
  const states = await Promise.all(Array.from({ length: 8 }, () => openState("together")));
  const handle = await states[0]!.stores.sessions.open("ann");
  const later = await openState("together");
  expect(await later.stores.sessions.read(handle, "ann")).toMatchObject({ discoveredTools: [] });
  const { rows } = await pglite.query("select * from together_state_versions");
  expect(rows).toEqual([{ version: 1 }]);
});

test("a table that is not a plain name is refused", async () => {
  for (const table of ["", "a b", 'a"b', "a;drop table x", "A", "a".repeat(41)]) {
    await expect(createPostgresState({ client: pglite, table })).rejects.toMatchObject({
      code: "INVALID_INPUT",
    });
  }
});
