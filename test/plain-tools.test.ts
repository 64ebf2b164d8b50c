import {
  createGateway,
  defineDomain,
  defineTool,
  type Gateway,
  toAnthropicTools,
  toOpenAITools,
} from "keyhole";
import { expect, onTestFinished, test } from "vitest";
import { clerk, createShop } from "./shop.ts";

function openShop(): Gateway {
  const gateway = createGateway({ domains: createShop().domains, principal: clerk });
  onTestFinished(() => gateway.close());
  return gateway;
}

test("OpenAI: definitions, a call, and a failure as a message", async () => {
  const { tools, call } = await toOpenAITools(openShop());
  expect(tools.map((tool) => tool.function.name)).toEqual(["ask", "help", "get", "exec"]);
  const run = (name: string, args: string) => call({ id: "call_1", function: { name, arguments: args } });
  const found = await run("ask", '{"query":"list orders"}');
  expect(found).toMatchObject({ role: "tool", tool_call_id: "call_1" });
  expect(found.content).toContain("shop://tools/order/list");
  expect((await run("ask", '{"query":')).content).toContain("not JSON");
  expect((await run("aks", "{}")).content).toMatch(/NOT_FOUND(?:.|\n)*ask/);
  expect((await run("get", '{"routes":7}')).content).toContain("INVALID_INPUT");
});

test("Anthropic: definitions, a call, and a failure as an error", async () => {
  const { tools, call } = await toAnthropicTools(openShop(), { surface: "routes" });
  expect(tools.map(({ name }) => name)).toEqual(["ask", "get"]);
  expect(tools[0]?.input_schema).toMatchObject({ type: "object" });
  const routes = [{ route: "shop.order.list", params: { limit: 1 } }];
  const read = await call({ id: "toolu_1", name: "get", input: { routes } });
  expect(read).toMatchObject({ type: "tool_result", tool_use_id: "toolu_1" });
  expect(read).not.toHaveProperty("is_error");
  const wrong = await call({
    id: "toolu_2",
    name: "get",
    input: { routes: [{ route: "shop.order.nothing" }] },
  });
  expect(wrong).toMatchObject({ is_error: true });
});

test("every entry can be its own tool", async () => {
  const { tools, call } = await toAnthropicTools(openShop(), { surface: "native" });
  expect(tools.map(({ name }) => name)).toContain("shop_order_list");
  const { content } = await call({ id: "toolu_1", name: "shop_order_list", input: { limit: 1 } });
  expect(content).toContain("orders");
});

test("tool names are valid for every vendor", async () => {
  const read = defineTool({
    name: "files.read",
    route: "disk://tools/read",
    description: "Read a file.",
    execute: () => "words",
  });
  const gateway = createGateway({
    domains: [defineDomain({ name: "disk", description: "Files.", tools: [read] })],
  });
  onTestFinished(() => gateway.close());
  const { tools, call } = await toAnthropicTools(gateway, { surface: "native", nativeNames: "names" });
  expect(tools.map(({ name }) => name)).toEqual(["disk_read"]);
  expect((await call({ id: "toolu_1", name: "disk_read", input: {} })).content).toContain("words");
});
