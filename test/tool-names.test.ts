import { expect, test } from "vitest";
import { LANES } from "../src/core/nouns/entry.ts";
import { createGateway, defineDomain, defineTool } from "../src/index.ts";
import { createOpenApiSource } from "../src/sources/index.ts";

const me = { id: "me", scopes: [], allowWrite: true };

function sales(...names: string[]) {
  const tools = names.map((name) =>
    defineTool({ name, lane: "write", description: `Does ${name}.`, execute: () => `${name} ran` }),
  );
  return defineDomain({ name: "sales", description: "Sales.", tools });
}

test("the registry says which op each name has", async () => {
  const gateway = createGateway({ domains: [sales("ship_order", "pay_order", "get_order", "list_orders")] });
  const named = Object.values((await gateway.report()).registry.ops).map(({ tool_name, op }) => [
    tool_name,
    op,
  ]);
  expect(Object.fromEntries(named)).toEqual({
    ship_order: "sales.order.ship",
    pay_order: "sales.order.pay",
    get_order: "sales.order.get",
    list_orders: "sales.order.list",
  });
  await gateway.close();
});

test.each([
  ["the op", "sales.order.ship"],
  ["the route", "sales://tools/order/ship"],
  ["the author's name", "ship_order"],
  ["the author's name with its server", "sales.ship_order"],
  ["the author's name as a route", "sales://tools/ship_order"],
  ["the op that earlier releases made", "sales.ship.order"],
  ["the route of that op", "sales://tools/ship/order"],
])("a tool is called by %s", async (_, address) => {
  const gateway = createGateway({ domains: [sales("ship_order", "pay_order")], principal: me });
  const answer = await gateway.exec({ op: address });
  expect(answer).toMatchObject({ ok: true, op: "sales.order.ship", result: "ship_order ran" });
  expect((await gateway.help({ path: address })).text).toContain("sales.order.ship");
  await gateway.close();
});

test("an op stays an address when a new tool changes it", async () => {
  const gateway = createGateway({ domains: [sales("parcel_weigh")], principal: me });
  expect(Object.keys((await gateway.report()).registry.ops)).toEqual(["sales.weigh.parcel"]);
  await gateway.setDomains([sales("parcel_weigh", "get_parcel")]);
  expect(Object.keys((await gateway.report()).registry.ops)).toEqual([
    "sales.parcel.get",
    "sales.parcel.weigh",
  ]);
  expect(await gateway.exec({ op: "sales.weigh.parcel" })).toMatchObject({ result: "parcel_weigh ran" });
  await gateway.close();
});

test("an address that two tools could have had means neither", async () => {
  const gateway = createGateway({
    domains: [sales("ship_order", "order_ship", "order_list")],
    principal: me,
  });
  expect(await gateway.exec({ op: "sales.order.ship" })).toMatchObject({ error: { code: "NOT_FOUND" } });
  expect(await gateway.exec({ op: "sales.order_ship" })).toMatchObject({ result: "order_ship ran" });
  await gateway.close();
});

test("operations of an API have their verb last, and answer to their operationId", async () => {
  const operation = (operationId?: string) => ({ ...(operationId && { operationId }), responses: {} });
  const document = {
    openapi: "3.1.0",
    info: { title: "Pets", version: "1" },
    servers: [{ url: "https://pets.example" }],
    paths: {
      "/pets": { get: operation("listPets"), post: operation("createPets") },
      "/pets/{petId}": { get: operation("showPetById"), delete: operation() },
      "/orders": { get: operation("orders_list") },
      "/orders/{id}/ship": { post: operation("shipOrder") },
      "/users/{name}": { get: operation("getUserByName") },
    },
  };
  const gateway = createGateway({ domains: [], sources: [createOpenApiSource("pets", { document })] });
  await gateway.ready();
  const named = Object.values((await gateway.report()).registry.ops).map(({ tool_name, op }) => [
    tool_name,
    op,
  ]);
  expect(Object.fromEntries(named)).toEqual({
    listPets: "pets.pet.list",
    createPets: "pets.pet.create",
    showPetById: "pets.pet.show_by_id",
    "DELETE /pets/{petId}": "pets.pets.delete_by_pet_id",
    orders_list: "pets.orders.list",
    shipOrder: "pets.order.ship",
    getUserByName: "pets.user.get_by_name",
  });
  for (const path of ["listPets", "pets.listPets", "pets.list_pets", "pets://tools/list_pets"])
    expect((await gateway.help({ path })).text).toContain("pets.pet.list");
  await gateway.close();
});

test("no name loosens the lane of a title", async () => {
  const words = ["Ship", "Order", "Delete", "Get", "Create", "Query", "Bulk", "Parcel", "Purge"];
  const titles = words.flatMap((one) => words.flatMap((two) => [`${one} ${two}`, `${one} ${two} Parcel`]));
  const gateway = createGateway({
    domains: [
      defineDomain({
        name: "d",
        description: "D.",
        tools: titles.map((name) => defineTool({ name, description: name, execute: () => null })),
      }),
    ],
  });
  for (const { tool_name, lane } of Object.values((await gateway.report()).registry.ops)) {
    const least = /Delete|Purge/.test(tool_name)
      ? "destructive"
      : /Create/.test(tool_name)
        ? "write"
        : "read";
    expect(LANES.indexOf(lane), tool_name).toBeGreaterThanOrEqual(LANES.indexOf(least));
  }
});
