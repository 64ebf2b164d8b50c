import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ApprovalRequest, createGateway, createPins, defineDomain, defineTool } from "keyhole";
import { afterAll, afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { verifies } from "./claims.ts";
import { COUNT, keepsRecipes, openOwn, TOTAL } from "./recipe-kit.ts";
import { createShop, createShopGateway, reader, writer } from "./run-kit.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const WAIT = { timeout: 30_000, interval: 10 };

/** One gateway serves most tests, because each starts threads of its own. */
const home = mkdtempSync(join(tmpdir(), "keyhole-recipes-"));
const folder = join(home, "recipes");
const shared = { ...createShopGateway({ recipes: folder, approve: keepsRecipes }), recipes: folder };
afterAll(async () => {
  await shared.gateway.close();
  rmSync(home, { recursive: true, force: true });
});
afterEach(async () => {
  rmSync(folder, { recursive: true, force: true });
  await shared.gateway.sources.refresh("recipes");
});

function open() {
  shared.log.length = 0;
  shared.orders.clear();
  for (const id of [1, 2, 3]) shared.orders.set(id, { id, customer: `c${id}`, total: id * 10 });
  return shared;
}

const TIDY = `
  const { items } = await tools.shop.order.list();
  const small = items.filter(({ total }) => total < params.below);
  for (const { id } of small) await tools.shop.order.delete({ id });
  return small.length;`;
const TIDY_UP = {
  name: "tidy_orders",
  description: "Deletes orders below a total.",
  params: { below: "number" },
};

describe("keeping", () => {
  verifies("run:recipes", "a script that went well becomes a tool that ask finds and exec runs", async () => {
    const { gateway } = open();
    const ran = await gateway.run({ code: TOTAL, params: { least: 20 }, keep: COUNT });
    expect(ran).toMatchObject({
      ok: true,
      result: 2,
      kept: { op: "recipes.count-orders", lane: "read", file: "count-orders.md" },
    });
    expect(ran.text).toContain("Kept as recipes.count-orders");
    const { hits } = await gateway.ask({ query: "count the orders of a total" });
    expect(hits[0]).toMatchObject({
      op: "recipes.count-orders",
      lane: "read",
      signature: "(least: number)",
    });
    const again = await gateway.exec({ op: "recipes.count-orders", args: { least: 30 } });
    expect(again).toMatchObject({ ok: true, result: 1 });
    const { results } = await gateway.get({
      routes: [{ route: "recipes://tools/count-orders", params: { least: 0 } }],
    });
    expect(results[0]).toMatchObject({ data: { content: 3 } });
    expect(await gateway.exec({ op: "recipes.count-orders", args: {} })).toMatchObject({
      error: { code: "INVALID_PARAMS" },
    });
  });

  test("the file has front matter and the code, and help shows the code", async () => {
    const { gateway, recipes } = open();
    await gateway.run({ code: TOTAL, params: { least: 20 }, keep: COUNT });
    const file = readFileSync(join(recipes, "count-orders.md"), "utf8");
    expect(file).toMatch(/^---\ndescription: Counts the orders of at least a total\.\nlane: read\n/);
    expect(file).toContain("- shop.order.list\n");
    expect(file).toContain(`\`\`\`js\n${TOTAL.trim()}\n\`\`\`\n`);
    const help = await gateway.help({ path: "recipes.count-orders" });
    expect(help).toMatchObject({ code: TOTAL.trim(), args: [{ name: "least", type: "number" }] });
    expect(help.text).toContain("items.filter(({ total }) => total >= params.least)");
  });

  test("types of params come from the run where nobody gives them", async () => {
    const { gateway } = open();
    const { params: _, ...keep } = COUNT;
    await gateway.run({ code: TOTAL, params: { least: 20 }, keep });
    const help = await gateway.help({ path: "recipes.count-orders" });
    expect(help).toMatchObject({ args: [{ name: "least", type: "number", required: true }] });
  });

  test("a plan that was performed can be kept; a dry run and a failure are not", async () => {
    const { gateway, recipes, log } = open();
    const dry = await gateway.run({ code: TIDY, params: { below: 15 }, dryRun: true, keep: TIDY_UP });
    expect(dry.text).toContain("Not kept");
    expect(existsSync(join(recipes, "tidy_orders.md"))).toBe(false);
    const real = await gateway.run({ plan: dry.plan!.handle, keep: TIDY_UP }, { approve: () => true });
    expect(real).toMatchObject({ ok: true, result: 1, kept: { lane: "destructive" } });
    expect(log).toEqual(["delete 1"]);
    const failed = await gateway.run({ code: "await call('shop.order.break')", keep: COUNT });
    expect(failed.ok).toBe(false);
    expect(existsSync(join(recipes, "count-orders.md"))).toBe(false);
  });

  test.each([
    [{ ...COUNT, name: "../evil" }, "INVALID_INPUT"],
    [{ ...COUNT, name: "A B" }, "INVALID_INPUT"],
    [{ ...COUNT, params: { least: "much" } }, "INVALID_INPUT"],
    [{ ...COUNT, description: "" }, "INVALID_INPUT"],
  ])("%j is refused before anything runs", async (keep, code) => {
    const { gateway, log } = open();
    const ran = await gateway.run({ code: "await tools.shop.order.create({ customer: 'x' })", keep });
    expect(ran).toMatchObject({ ok: false, error: { code } });
    expect(log).toEqual([]);
  });

  test("callers that may not write, gateways without recipes and taken names refuse it", async () => {
    const { gateway } = open();
    const kept = { code: TOTAL, params: { least: 1 }, keep: COUNT };
    expect(await gateway.run(kept, { principal: reader })).toMatchObject({
      error: { code: "PERMISSION_DENIED" },
    });
    expect(await gateway.run(kept)).toMatchObject({ ok: true });
    expect(await gateway.run(kept)).toMatchObject({ ok: true });
    const other = { ...kept, code: `return 1;${TOTAL}` };
    expect(await gateway.run(other)).toMatchObject({ error: { code: "CONFLICT" } });
    const without = createShopGateway();
    onTestFinished(() => without.gateway.close());
    expect(await without.gateway.run(kept)).toMatchObject({ error: { code: "INVALID_INPUT" } });
  });

  test("what went well stays well if it cannot be kept", async () => {
    const { gateway, recipes, log } = open();
    const code = "await tools.shop.order.create({ customer: 'ann' }); return '\u200b'.length";
    const ran = await gateway.run({ code, keep: { ...COUNT, params: {} } });
    expect(ran).toMatchObject({ ok: true, result: 1, effects: [{ state: "done" }] });
    expect(ran.text).toContain("Not kept: ");
    expect(log).toEqual(["create ann"]);
    expect(existsSync(join(recipes, "count-orders.md"))).toBe(false);
  });

  test("a domain of the owner that is called recipes comes first", async () => {
    const cook = defineTool({
      name: "cook",
      op: "recipes.cook",
      description: "Cooks.",
      execute: () => "soup",
    });
    const kitchen = defineDomain({ name: "recipes", description: "Cooking.", tools: [cook] });
    const { gateway, recipes } = openOwn({ domains: [createShop().domain, kitchen] });
    mkdirSync(recipes);
    const ran = await gateway.run({ code: TOTAL, params: { least: 20 }, keep: COUNT });
    expect(ran).toMatchObject({ ok: false, error: { code: "INVALID_INPUT" } });
    writeFileSync(join(recipes, "a.md"), "---\ndescription: A.\n---\nreturn 1\n");
    await gateway.sources.refresh("recipes").catch(() => {});
    expect(await gateway.exec({ op: "recipes.cook" })).toMatchObject({ ok: true, result: "soup" });
  });

  test("a script that runs a recipe is not kept", async () => {
    const { gateway } = open();
    await gateway.run({ code: TOTAL, params: { least: 20 }, keep: COUNT });
    const outer = "return call('recipes.count-orders', { least: 10 })";
    const ran = await gateway.run({ code: outer, keep: { ...COUNT, name: "outer" } });
    expect(ran).toMatchObject({ ok: true, result: 3 });
    expect(ran.text).toContain("Not kept");
  });
});

describe("a recipe as a tool", () => {
  async function withTidy() {
    const opened = open();
    const ran = await opened.gateway.run({
      code: TIDY,
      params: { below: 5 },
      keep: TIDY_UP,
    });
    expect(ran.ok, ran.text).toBe(true);
    return opened;
  }

  test("has the lane of the calls it made when it was kept, and makes no stronger ones", async () => {
    // Nothing is below 5, so the script only read.
    const { gateway, log } = await withTidy();
    const answer = await gateway.exec({ op: "recipes.tidy_orders", args: { below: 15 } });
    expect(answer).toMatchObject({ ok: false, error: { code: "BEYOND_RECIPE" } });
    expect(answer.text).toContain("shop.order.delete");
    expect(log).toEqual([]);
  });

  verifies(
    "run:recipes",
    "a destructive recipe runs dry where nobody can be asked, and tells its effects",
    async () => {
      const { gateway, log, orders } = open();
      orders.set(9, { id: 9, customer: "c9", total: 1 });
      const approve = () => true;
      await gateway.run({ code: TIDY, params: { below: 5 }, keep: TIDY_UP }, { approve });
      expect(log).toEqual(["delete 9"]);
      const dry = await gateway.exec({ op: "recipes.tidy_orders", args: { below: 25 } });
      expect(dry).toMatchObject({
        ok: true,
        result: {
          effects: [
            { op: "shop.order.delete", args: { id: 1 }, state: "planned", says: { would_delete: 1 } },
            { op: "shop.order.delete", args: { id: 2 }, state: "planned" },
          ],
        },
      });
      expect(log).toHaveLength(1);
      const real = await gateway.exec({ op: "recipes.tidy_orders", args: { below: 25 } }, { approve });
      expect(real).toMatchObject({ ok: true, result: 2 });
      expect(log).toEqual(["delete 9", "delete 1", "delete 2"]);
      const denied = await gateway.exec(
        { op: "recipes.tidy_orders", args: { below: 99 }, dryRun: false },
        { principal: reader },
      );
      expect(denied).toMatchObject({ error: { code: "PERMISSION_DENIED" } });
    },
  );

  test("asks a person once if one of its calls needs one, before anything runs", async () => {
    const asked: ApprovalRequest[] = [];
    let answer = true;
    const { gateway, log } = openOwn({
      approve: (request) => {
        asked.push(request);
        return answer;
      },
    });
    const code =
      "await tools.shop.order.create({ customer: 'ann' }); for (const id of params.ids) await tools.shop.order.pay({ id }); return 'paid'";
    const keep = { name: "pay-all", description: "Pays orders.", params: { ids: { type: "array" } } };
    await gateway.run({ code, params: { ids: [1] }, keep });
    asked.length = 0;
    log.length = 0;
    const run = () => gateway.exec({ op: "recipes.pay-all", args: { ids: [1, 2] } });
    expect(await run()).toMatchObject({ ok: true, result: "paid" });
    expect(asked.map(({ op, why }) => `${op}: ${why}`)).toEqual(["recipes.pay-all: confirmation"]);
    expect(log).toEqual(["create ann", "pay 1", "pay 2"]);
    answer = false;
    expect(await run()).toMatchObject({ ok: false, error: { code: "APPROVAL_REQUIRED" } });
    expect(log).toHaveLength(3);
  });

  test("fails with what was done, and sees only what its caller sees", async () => {
    const { gateway, log } = open();
    const code =
      "await tools.shop.order.create({ customer: 'ann' }); if (params.fail) throw new Error('stop'); return get('shop.order.list').then(({ items }) => items.length)";
    const keep = { name: "add", description: "Adds an order.", params: { fail: "boolean?" } };
    await gateway.run({ code, params: { fail: false }, keep });
    const failed = await gateway.exec({ op: "recipes.add", args: { fail: true } });
    expect(failed).toMatchObject({
      ok: false,
      error: {
        code: "SCRIPT_FAILED",
        details: {
          effects: [{ op: "shop.order.create", state: "done", undo: { op: "shop.order.delete" } }],
        },
      },
    });
    expect(log).toHaveLength(2);
    expect(await gateway.exec({ op: "recipes.add", args: {} })).toMatchObject({ ok: true, result: 6 });
  });

  test("is hidden from callers who lack a scope of its calls", async () => {
    const admin = { ...writer, scopes: ["admin"] };
    const { gateway } = openOwn({ principal: admin });
    const keep = { name: "secrets", description: "Reads secret orders." };
    await gateway.run({ code: "return call('shop.secret.list')", keep });
    expect(await gateway.exec({ op: "recipes.secrets" })).toMatchObject({ ok: true, result: "secret" });
    expect(await gateway.exec({ op: "recipes.secrets" }, { principal: writer })).toMatchObject({
      error: { code: "NOT_FOUND" },
    });
  });

  test("runs in scripts as one effect, many at once, and not in other recipes", async () => {
    const { gateway, recipes } = open();
    await gateway.run({ code: TOTAL, params: { least: 20 }, keep: COUNT });
    const many = await Promise.all(
      Array.from({ length: 10 }, () =>
        gateway.run({ code: "return tools.recipes['count-orders']({ least: 1 })" }),
      ),
    );
    expect(many.map(({ result }) => result)).toEqual(Array(10).fill(3));
    const nested =
      "---\ndescription: Runs another.\n---\n```js\nreturn call('recipes.count-orders', { least: 1 })\n```\n";
    writeFileSync(join(recipes, "nested.md"), nested);
    await gateway.sources.refresh("recipes");
    await gateway.pins.approve({ route: "recipes://tools/nested" });
    expect(await gateway.exec({ op: "recipes.nested" })).toMatchObject({
      ok: false,
      error: { code: "UNAVAILABLE" },
    });
  });
});

describe("the file", () => {
  verifies("run:recipes", "an edited recipe waits for approval, and a removed one is gone", async () => {
    const { gateway, recipes } = open();
    const file = join(recipes, "count-orders.md");
    await gateway.run({ code: TOTAL, params: { least: 20 }, keep: COUNT });
    const run = () => gateway.exec({ op: "recipes.count-orders", args: { least: 20 } });
    writeFileSync(file, readFileSync(file, "utf8").replace(">=", ">"));
    await vi.waitFor(async () => expect(await run()).toMatchObject({ error: { code: "UNAVAILABLE" } }), WAIT);
    expect((await gateway.help({ path: "recipes.count-orders" })).text).not.toContain("params.least");
    const [pin] = gateway.pins.list();
    expect(pin).toMatchObject({ route: "recipes://tools/count-orders", state: "changed" });
    await gateway.pins.approve({ pins: [pin!] });
    expect(await run()).toMatchObject({ ok: true, result: 1 });
    rmSync(file);
    await vi.waitFor(async () => expect(await run()).toMatchObject({ error: { code: "NOT_FOUND" } }), WAIT);
  });

  test("approvals that are kept hold after a restart; others are asked for again", async () => {
    const folder = temporaryFolder();
    const [recipes, path] = [join(folder, "recipes"), join(folder, "approvals.db")];
    const first = createGateway({
      domains: [createShop().domain],
      principal: writer,
      recipes,
      approve: keepsRecipes,
      pins: createPins({ path }),
    });
    await first.run({ code: TOTAL, params: { least: 20 }, keep: COUNT });
    await first.close();
    for (const [pins, ok] of [
      [createPins({ path }), true],
      [createPins(), false],
    ] as const) {
      const next = createGateway({ domains: [createShop().domain], principal: writer, recipes, pins });
      expect((await next.exec({ op: "recipes.count-orders", args: { least: 20 } })).ok).toBe(ok);
      await next.close();
    }
  });

  test("a broken file is reported, and the others stay", async () => {
    const { gateway, recipes } = open();
    await gateway.run({ code: TOTAL, params: { least: 20 }, keep: COUNT });
    for (const [name, text] of [
      ["no-code.md", "---\ndescription: Empty.\n---\n"],
      ["no-words.md", "```js\nreturn 1\n```\n"],
      ["wrong.md", "---\ndescription: A.\nlane: strong\n---\n```js\nreturn 1\n```\n"],
      ["Bad Name.md", "---\ndescription: A.\n---\n```js\nreturn 1\n```\n"],
    ])
      writeFileSync(join(recipes, name!), text!);
    await gateway.sources.refresh("recipes");
    const { entries } = await gateway.view();
    expect(entries.filter(({ domain }) => domain === "recipes").map(({ name }) => name)).toEqual([
      "count-orders",
    ]);
  });
});
