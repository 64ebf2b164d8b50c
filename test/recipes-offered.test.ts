// Recipes over other faces, and as the gateway offers them.
import { createToolbox } from "keyhole";
import { createMcpServer } from "keyhole/mcp";
import { expect, onTestFinished, test } from "vitest";
import { connect, ERAS } from "./mcp/connect.ts";
import { COUNT, openOwn, TOTAL } from "./recipe-kit.ts";

test("models on the surface code keep, find and run recipes", async () => {
  const { gateway } = openOwn({});
  const toolbox = await createToolbox(gateway, { surface: "code" });
  await toolbox.call("run", { code: TOTAL, params: { least: 20 }, keep: COUNT });
  expect((await toolbox.call("ask", { query: "count orders" })).text).toContain("recipes");
  const { text } = await toolbox.call("run", { code: "return tools.recipes['count-orders']({ least: 30 })" });
  expect(text).toBe("1");
  const { client } = await connect(createMcpServer(gateway, { surface: "native" }), "2026-07-28");
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain("recipes_count-orders");
});

test("calls that sessions repeat are offered with the beginning of a recipe", async () => {
  const { gateway } = openOwn({});
  const walk = async () => {
    const session = await gateway.openSession();
    await gateway.exec({ op: "shop.order.list", args: {}, session });
    for (const id of [1, 2]) await gateway.exec({ op: "shop.order.get", args: { id }, session });
    await gateway.exec({ op: "shop.order.refund", args: { id: 1 }, session });
  };
  for (let times = 0; times < 3; times++) await walk();
  const [first] = (await gateway.report()).repeated;
  expect(first).toMatchObject({
    routes: ["shop://tools/order/list", "shop://tools/order/get", "shop://tools/order/refund"],
    conversations: 3,
  });
  const params = { step1: {}, step2: { id: 1 }, step3: { id: 1 } };
  const keep = { name: "refund-first", description: "Refunds an order after a look at it." };
  const ran = await gateway.run({ code: first!.code, params, keep });
  expect(ran).toMatchObject({ ok: true, result: { refunded: 1 }, kept: { lane: "write" } });
});

test.each(ERAS)("a client of %s is asked once about a recipe, and nothing runs twice", async (era) => {
  const { gateway, log } = openOwn({});
  const code =
    "await tools.shop.order.create({ customer: 'ann' }); await tools.shop.order.pay({ id: params.id }); return 'paid'";
  const keep = {
    name: "order-and-pay",
    description: "Creates an order and pays another.",
    params: { id: "number" },
  };
  await gateway.run({ code, params: { id: 1 }, keep }, { approve: () => true });
  log.length = 0;
  const server = createMcpServer(gateway);
  onTestFinished(() => server.close());
  const { client } = await connect(server, era, { capabilities: { elicitation: { form: {} } } });
  const questions: string[] = [];
  client.setRequestHandler("elicitation/create", async ({ params }) => {
    questions.push(params.message);
    return { action: "accept", content: { approve: true } };
  });
  const { content } = await client.callTool({
    name: "exec",
    arguments: { op: "recipes.order-and-pay", args: { id: 2 } },
  });
  expect(JSON.stringify(content)).toContain("paid");
  expect(questions).toHaveLength(1);
  expect(questions[0]).toContain("recipes.order-and-pay");
  expect(log).toEqual(["create ann", "pay 2"]);
});
