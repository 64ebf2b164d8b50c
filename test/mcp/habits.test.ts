// The menu names first what its caller used in earlier lives of the gateway, and never changes within one.
import { join } from "node:path";
import { createGateway, defineDomain, defineTool, loadTokenCounter, type Principal } from "keyhole";
import { createMcpServer } from "keyhole/mcp";
import { expect, test } from "vitest";
import { openSqliteStorage } from "../../src/core/storage/sql-storage.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { connectHttp } from "./connect.ts";

const THINGS = ["invoice", "customer", "shipment", "refund", "coupon"];
const VERBS = ["get", "list", "update", "archive", "export", "import", "print", "assign", "share", "copy"];
const inputSchema = { type: "object", properties: { id: { type: "string" } }, required: ["id"] };
const domains = Array.from({ length: 12 }, (_, at) =>
  defineDomain({
    name: `shop${at}`,
    description: "A shop.",
    tools: THINGS.flatMap((thing) => VERBS.map((verb) => `${verb}_${thing}`)).map((name) =>
      defineTool({ name, op: `shop${at}.${name}`, description: "Does it.", inputSchema, execute: () => 1 }),
    ),
  }),
);
const ada: Principal = { id: "ada", scopes: [], allowWrite: true };
const bob: Principal = { id: "bob", scopes: [], allowWrite: true };
const countTokens = await loadTokenCounter();

/** A gateway from its start to its end, with the bytes of the lists that a principal's client gets. */
async function live(learning: NonNullable<Parameters<typeof createGateway>[0]["learning"]>) {
  const gateway = createGateway({ domains, learning });
  const server = createMcpServer(gateway);
  const listOf = async (principal: Principal) => {
    const { client } = await connectHttp(server, "2026-07-28", { principal });
    const bytes = JSON.stringify(await client.listTools());
    await client.close();
    return bytes;
  };
  const use = async (principal: Principal, op: string, times: number) => {
    for (let time = 0; time < times; time += 1) {
      const session = await gateway.openSession({ principal });
      expect(await gateway.exec({ op, args: { id: "a" }, session }, { principal })).toMatchObject({
        ok: true,
      });
    }
  };
  const close = async () => {
    await server.close();
    await gateway.close();
  };
  return { listOf, use, close };
}

/** The names that the menu has for a domain, in their order. */
function namedOf(bytes: string, domain: string): string[] {
  const [, line = ""] = new RegExp(`- ${domain}: (.*?)(?:\\\\n|")`).exec(bytes) ?? [];
  return [...line.matchAll(/(\w+)\(id\)/g)].map(([, name = ""]) => name);
}

test("the next life of a gateway names the used tools first, to the one who used them", async () => {
  const log = join(temporaryFolder(), "learning.db");
  const first = await live({ log });
  const unused = await first.listOf(ada);
  expect(await first.listOf(bob)).toBe(unused);
  expect(namedOf(unused, "shop7")).not.toContain("share_coupon");
  await first.use(ada, "shop7.share_coupon", 3);
  await first.use(ada, "shop7.print_refund", 2);
  await first.use(ada, "shop2.copy_coupon", 1);
  expect(await first.listOf(ada)).toBe(unused);
  expect(await first.listOf(bob)).toBe(unused);
  await first.close();

  const second = await live({ log });
  const used = await second.listOf(ada);
  expect(namedOf(used, "shop7").slice(0, 2)).toEqual(["share_coupon", "print_refund"]);
  expect(namedOf(used, "shop2")[0]).toBe("copy_coupon");
  expect(countTokens(JSON.stringify(JSON.parse(used).tools))).toBeLessThanOrEqual(1_000);
  for (let at = 0; at < 12; at += 1) expect(used).toContain(`- shop${at}: `);
  expect(await second.listOf(bob)).toBe(unused);
  await second.use(ada, "shop5.import_refund", 3);
  await second.use(bob, "shop5.import_refund", 3);
  expect(await second.listOf(ada)).toBe(used);
  expect(await second.listOf(bob)).toBe(unused);
  await second.close();
});

test("gateways that share a storage of their own give everybody one list, whenever they started", async () => {
  const { open, close } = openSqliteStorage(join(temporaryFolder(), "shared.db"));
  const first = await live({ log: open });
  const unused = await first.listOf(ada);
  await first.use(ada, "shop7.share_coupon", 3);
  await first.close();
  const second = await live({ log: open });
  expect(await second.listOf(ada)).toBe(unused);
  await second.close();
  close();
});
