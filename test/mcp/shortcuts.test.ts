import { createGateway, defineDomain, defineTool, loadTokenCounter, type Principal } from "keyhole";
import { createMcpServer } from "keyhole/mcp";
import { expect, onTestFinished } from "vitest";
import { z } from "zod";
import { verifies } from "../claims.ts";
import { connect, ERAS } from "./connect.ts";

const MENU_TOKENS = 900;
const writer: Principal = { id: "ann", scopes: [], allowWrite: true };
const reader: Principal = { id: "bob", scopes: [], allowWrite: false };

function open(tools = 3) {
  const gateway = createGateway({
    domains: [
      defineDomain({
        name: "shop",
        description: "Orders.",
        tools: Array.from({ length: tools }, (_, index) =>
          defineTool({
            name: `find_order_${index}`,
            description: `Finds order ${index} of a customer, by any of its fields. A second sentence is not needed.`,
            inputSchema: z.object({ customer: z.string().describe("Name of the customer.") }),
            execute: ({ customer }) => ({ found: `${index} of ${customer}` }),
          }),
        ),
      }),
      defineDomain({
        name: "post",
        description: "Parcels.",
        tools: [
          defineTool({
            name: "send_parcel",
            description: "Sends one.",
            lane: "write",
            execute: () => "sent",
          }),
        ],
      }),
    ],
  });
  onTestFinished(() => gateway.close());
  return gateway;
}

verifies("menu:shortcuts", "named entries are listed as tools, last, and answer like exec", async () => {
  for (const era of ERAS) {
    const gateway = open();
    const shortcuts = ["shop.order.1.find", "post://tools/parcel/send", "shop.gone"];
    const { client } = await connect(createMcpServer(gateway, { shortcuts, principal: writer }), era);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      "ask",
      "help",
      "get",
      "exec",
      "shop_order_1_find",
      "post_parcel_send",
    ]);
    expect(tools[4]).toMatchObject({
      inputSchema: { properties: { customer: { type: "string" } }, required: ["customer"] },
    });
    const found = await client.callTool({ name: "shop_order_1_find", arguments: { customer: "Eve" } });
    expect(found.content).toEqual([{ type: "text", text: expect.stringContaining('"1 of Eve"') }]);
    const wrong = await client.callTool({ name: "shop_order_1_find", arguments: {} });
    expect(wrong).toMatchObject({ isError: true });
    expect(JSON.stringify(wrong.content)).toContain("INVALID_PARAMS");
  }
});

verifies("menu:shortcuts", "a principal that may not write is shown no shortcut that writes", async () => {
  const shortcuts = ["post.parcel.send", "shop.order.0.find"];
  const { client } = await connect(createMcpServer(open(), { shortcuts, principal: reader }), ERAS[0]);
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name).slice(4)).toEqual(["shop_order_0_find"]);
  const refused = await client.callTool({ name: "post_parcel_send", arguments: {} }).catch(String);
  expect(JSON.stringify(refused)).not.toContain("sent");
});

verifies(
  "menu:shortcuts",
  "the menu keeps its budget, lists the first that fit, and has the same bytes",
  async () => {
    const gateway = open(60);
    const shortcuts = Array.from({ length: 60 }, (_, index) => `shop.order.${index}.find`);
    const tools = await gateway.menu({ shortcuts, principal: writer });
    const countTokens = await loadTokenCounter();
    expect(countTokens(JSON.stringify(tools))).toBeLessThanOrEqual(MENU_TOKENS);
    const added = tools.slice(4).map(({ name }) => name);
    expect(added.length).toBeGreaterThan(0);
    expect(added).toEqual(shortcuts.slice(0, added.length).map((op) => op.replaceAll(".", "_")));
    await gateway.ask({ query: "find order 7" });
    await gateway.exec({ op: "shop.order.7.find", args: { customer: "Eve" } }, { principal: writer });
    expect(JSON.stringify(await gateway.menu({ shortcuts, principal: writer }))).toBe(JSON.stringify(tools));
    const { length } = await open().menu({ surface: "native", shortcuts });
    expect(length).toBe(4);
  },
);
