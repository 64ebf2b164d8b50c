import { createGateway, type KeyholeEvent, onEvent } from "keyhole";
import { expect, test } from "vitest";
import { verifies } from "./claims.ts";
import { clerk, createShop, reader } from "./shop.ts";

verifies("events:shapes-only", "every operation emits one event without argument values", async () => {
  const events: KeyholeEvent[] = [];
  const stop = onEvent((event) => events.push(event));
  const gateway = createGateway({ domains: createShop().domains });
  const secret = "canary-7f3a";
  const options = { principal: clerk };
  await gateway.ask({ query: secret }, options);
  await gateway.help({ path: "shop.order" }, options);
  await gateway.get({ routes: [{ route: "shop.order.list", params: { state: secret } }] }, options);
  await gateway.exec({ op: "shop.order.create", args: { customer: secret, [`${secret} key`]: 1 } }, options);
  await gateway.batch(
    { requests: [{ exec: { op: "shop.order.create", args: { customer: secret } } }] },
    options,
  );
  await gateway.ask({ query: secret, session: "gone" }, options).catch(() => {});
  stop();
  await gateway.help({ path: "" });

  const operations = events.filter((event) => event.type === "operation");
  expect(operations.map(({ operation, outcome }) => [operation, outcome])).toEqual([
    ["ask", "ok"],
    ["help", "ok"],
    ["get", "INVALID_PARAMS"],
    ["exec", "INVALID_PARAMS"],
    ["batch", "ok"],
    ["ask", "UNKNOWN_HANDLE"],
  ]);
  expect(operations[2]).toMatchObject({
    principal: "clerk",
    targets: ["shop.order.list"],
    traceId: expect.stringMatching(/^tr_/),
  });
  expect(operations[4]?.argumentShape).toMatchObject({
    requests: ["array(1)", { exec: { op: "string(17)", args: { customer: `string(${secret.length})` } } }],
  });
  expect(operations.every(({ latencyMs, tokens }) => latencyMs >= 0 && tokens >= 0)).toBe(true);
  expect(JSON.stringify(events)).not.toContain(secret);
});

verifies("guidance:dropped", "dropped guidance is reported to the owner", async () => {
  const events: KeyholeEvent[] = [];
  const stop = onEvent((event) => events.push(event));
  const gateway = createGateway({ domains: createShop().domains });
  await gateway.get({ routes: [{ route: "shop://tools/clerk-guide" }] }, { principal: reader });
  stop();
  expect(events).toContainEqual(
    expect.objectContaining({
      notice: "guidance-dropped",
      detail: expect.stringContaining("audit://tools/report"),
    }),
  );
});

verifies("registry:versioned", "the report has every op with its schema and kind", async () => {
  const gateway = createGateway({ domains: createShop().domains });
  const { registry } = await gateway.report();
  expect(JSON.parse(JSON.stringify(registry))).toEqual(registry);
  expect(registry.registry_version).toBe(gateway.version);
  expect(registry.ops["shop.order.create"]).toMatchObject({
    tool_name: "create_order",
    group: "shop",
    kind: "write",
    entity: "order",
    action: "create",
    parameters_schema: { required: ["customer"] },
  });
  await gateway.close();
});

test("events name their gateway", async () => {
  const events: KeyholeEvent[] = [];
  const stop = onEvent((event) => events.push(event));
  const [shop, other] = [{ name: "shop" }, {}].map((named) =>
    createGateway({ ...named, domains: createShop().domains }),
  );
  await shop!.ask({ query: "orders" });
  await other!.exec({ op: "shop.order.list" });
  await shop!.read("shop://tools/clerk-guide", { principal: reader });
  stop();
  expect(shop!.name).toBe("shop");
  expect(other!.name).toMatch(/^gateway-\d+$/);
  const ofGateway = (name: string) => events.filter(({ gateway }) => gateway === name);
  expect(ofGateway("shop").map(({ type }) => type)).toEqual(
    expect.arrayContaining(["search", "operation", "notice"]),
  );
  const calls = ofGateway(other!.name).filter(({ type }) => type !== "notice");
  expect(calls).toMatchObject([{ type: "operation", operation: "exec" }]);
  expect(ofGateway("shop").length + ofGateway(other!.name).length).toBe(events.length);
  await Promise.all([shop!.close(), other!.close()]);
});
