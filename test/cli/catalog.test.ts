import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { createShopGateway } from "../run-kit.ts";
import { openProgram } from "../threats/program.ts";

test("keyhole catalog report offers calls that conversations repeat, each with a script that runs", async () => {
  const { home, keyhole } = openProgram();
  const log = join(home, ".local", "state", "keyhole", "learning.db");
  mkdirSync(dirname(log), { recursive: true });
  const { gateway } = createShopGateway({ learning: { log } });
  for (let times = 0; times < 3; times++) {
    const session = await gateway.openSession();
    await gateway.exec({ op: "shop.order.list", args: {}, session });
    await gateway.exec({ op: "shop.order.get", args: { id: 1 }, session });
    await gateway.exec({ op: "shop.order.create", args: { customer: "ann" }, session });
  }
  await gateway.close();
  const shown = await keyhole("catalog", "report");
  expect(shown.out).toContain(
    "in 3 conversations: shop://tools/order/list → shop://tools/order/get → shop://tools/order/create",
  );
  expect(shown.out).toContain("keyhole catalog report --json");
  const { repeated } = JSON.parse((await keyhole("catalog", "report", "--json")).out);
  const again = createShopGateway();
  const params = { step1: {}, step2: { id: 1 }, step3: { customer: "bob" } };
  expect(await again.gateway.run({ code: repeated[0].code, params })).toMatchObject({ ok: true });
  expect(again.log).toEqual(["create bob"]);
  await again.gateway.close();
});
