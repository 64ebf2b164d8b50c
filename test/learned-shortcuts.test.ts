import { join } from "node:path";
import {
  createGateway,
  defineDomain,
  defineTool,
  type Gateway,
  loadTokenCounter,
  type Principal,
} from "keyhole";
import { createMcpServer } from "keyhole/mcp";
import { expect, onTestFinished } from "vitest";
import { z } from "zod";
import { connect, ERAS } from "./mcp/connect.ts";
import { verifies } from "./requirements.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const MENU_TOKENS = 900;
const ann: Principal = { id: "ann", scopes: [], allowWrite: true };
const bob: Principal = { id: "bob", scopes: [], allowWrite: true };
const reader: Principal = { id: "ann", scopes: [], allowWrite: false };
const guest: Principal = { id: "eve", scopes: ["guest"], allowWrite: true };

const names = async (gateway: Gateway, principal: Principal, learnedShortcuts = 2) =>
  (await gateway.menu({ principal, learnedShortcuts })).slice(4).map(({ name }) => name);

/** A gateway that keeps its state in a folder, like the program. */
function open(folder: string, extra = 0): Gateway {
  const tool = (name: string, lane: "read" | "write" | "destructive") =>
    defineTool({
      name,
      description: `${name.replaceAll("_", " ")} of a customer.`,
      lane,
      inputSchema: z.object({ customer: z.string() }),
      execute: ({ customer }) => `${name} for ${customer}`,
    });
  const tools = [
    tool("find_order", "read"),
    tool("find_invoice", "read"),
    tool("send_parcel", "write"),
    tool("delete_order", "destructive"),
    ...Array.from({ length: extra }, (_, index) => tool(`find_part_${index}`, "read")),
  ];
  const gateway = createGateway({
    domains: [defineDomain({ name: "shop", description: "Orders.", tools })],
    cacheDirectory: join(folder, "cache"),
    learning: { log: join(folder, "learning.jsonl") },
  });
  onTestFinished(() => gateway.close());
  return gateway;
}

async function use(gateway: Gateway, op: string, times: number, principal = ann): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    const session = await gateway.openSession({ principal });
    const answer = await gateway.exec(
      { op, args: { customer: "Eve" }, dry_run: false },
      { principal, session },
    );
    expect(answer.ok, answer.text).toBe(true);
  }
}

verifies("menu:learned", "the entries used most are listed, and answer like exec", async () => {
  const folder = temporaryFolder();
  const first = open(folder);
  expect(await names(first, ann)).toEqual([]);
  await use(first, "shop.order.find", 4);
  await use(first, "shop.parcel.send", 5);
  await use(first, "shop.invoice.find", 3);
  await use(first, "shop.order.delete", 9);
  await first.close();

  const gateway = open(folder);
  expect(await names(gateway, ann)).toEqual(["shop_parcel_send", "shop_order_find"]);
  expect(await names(gateway, reader)).toEqual(["shop_order_find", "shop_invoice_find"]);
  for (const era of ERAS) {
    const server = createMcpServer(gateway, { learnedShortcuts: 2, principal: ann });
    const { client } = await connect(server, era);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).slice(4)).toEqual(["shop_parcel_send", "shop_order_find"]);
    const sent = await client.callTool({ name: "shop_parcel_send", arguments: { customer: "Bob" } });
    expect(JSON.stringify(sent.content)).toContain("send_parcel for Bob");
  }
});

verifies("menu:learned", "the menu keeps its bytes while the catalog does, also over restarts", async () => {
  const folder = temporaryFolder();
  const first = open(folder);
  await use(first, "shop.order.find", 3);
  const menu = JSON.stringify(await first.menu({ principal: ann, learnedShortcuts: 1 }));
  expect(menu).toContain("shop_order_find");
  await use(first, "shop.invoice.find", 9);
  expect(JSON.stringify(await first.menu({ principal: ann, learnedShortcuts: 1 }))).toBe(menu);
  await first.close();

  const second = open(folder);
  expect(JSON.stringify(await second.menu({ principal: ann, learnedShortcuts: 1 }))).toBe(menu);
  await second.close();
  // Another catalog is a new choice.
  expect(await names(open(folder, 1), ann, 1)).toEqual(["shop_invoice_find"]);
});

verifies(
  "menu:learned",
  "nobody is shown what one other principal uses, or what another scope does",
  async () => {
    const folder = temporaryFolder();
    const first = open(folder);
    await use(first, "shop.order.find", 9);
    await first.close();
    const gateway = open(folder);
    expect(await names(gateway, ann)).toEqual(["shop_order_find"]);
    expect(await names(gateway, bob)).toEqual([]);
    expect(await names(gateway, guest)).toEqual([]);
  },
);

verifies("menu:learned", "the menu keeps its budget, and configured shortcuts come first", async () => {
  const folder = temporaryFolder();
  const first = open(folder, 40);
  for (let part = 0; part < 40; part += 1) await use(first, `shop.part.${part}.find`, 3);
  await first.close();
  const gateway = open(folder, 40);
  const countTokens = await loadTokenCounter();
  const tools = await gateway.menu({
    principal: ann,
    learnedShortcuts: 40,
    shortcuts: ["shop.invoice.find"],
  });
  expect(countTokens(JSON.stringify(tools))).toBeLessThanOrEqual(MENU_TOKENS);
  expect(tools.length).toBeGreaterThan(5);
  expect(tools[4]?.name).toBe("shop_invoice_find");
});
