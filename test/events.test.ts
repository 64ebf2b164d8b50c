import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createGateway, type KeyholeEvent, onEvent, readRegistry, writeRegistry } from "keyhole";
import { expect } from "vitest";
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

verifies("registry:round-trip", "a written file is read back, and a damaged one is refused", async () => {
  const gateway = createGateway({ domains: createShop().domains });
  const path = join(await mkdtemp(join(tmpdir(), "keyhole-")), "registry.json");
  const registry = (await gateway.report()).registry;
  await writeRegistry(path, registry);
  expect(await readRegistry(path)).toEqual(registry);
  expect(registry.registry_version).toBe(gateway.version);
  expect(registry.ops["shop.order.create"]).toMatchObject({
    tool_name: "create_order",
    group: "shop",
    kind: "write",
    entity: "order",
    action: "create",
    parameters_schema: { required: ["customer"] },
  });

  const text = await readFile(path, "utf8");
  for (const damaged of [
    text.slice(0, 100),
    text.replace("create_order", "create_ordre"),
    "{}",
    text.replace('"format": 1', '"format": 2'),
  ]) {
    await writeFile(path, damaged);
    await expect(readRegistry(path)).rejects.toMatchObject({ code: "REGISTRY_INVALID" });
  }
  await expect(readRegistry(`${path}.none`)).rejects.toMatchObject({ code: "REGISTRY_INVALID" });
});
