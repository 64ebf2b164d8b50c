import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createGateway, defineDomain, defineTool } from "keyhole";
import { expect, test } from "vitest";
import { z } from "zod";
import { PLAYGROUND } from "../examples/playground/principals.ts";
import { createSystems } from "../examples/playground/systems.ts";
import { verifies } from "./claims.ts";

const domains = [
  defineDomain({
    name: "office",
    description: "Papers and post.",
    tools: ["scan_paper", "scan_paper_fast", "find_stamp", "file_away"].map((name) =>
      defineTool({ name, description: `The tool ${name}.`, execute: () => name }),
    ),
  }),
];

verifies(
  "learning:bounded",
  "use lifts an entry for similar queries, but never above an entry that the query names",
  async () => {
    const log = join(mkdtempSync(join(tmpdir(), "keyhole-")), "learning.db");
    const gateway = createGateway({ domains, learning: { log } });
    const before = await gateway.ask({ query: "paper scan please" });
    const [first, second] = before.hits.map((hit) => hit.op);
    for (let time = 0; time < 4; time++) {
      await gateway.ask({ query: "paper scan please" });
      await gateway.exec({ op: second ?? "" });
      await gateway.ask({ query: "letters into cellar" });
      await gateway.exec({ op: "office.file_away" });
    }
    const topOf = async (query: string, options = {}) => (await gateway.ask({ query }, options)).hits[0]?.op;
    expect(await topOf("paper scan please")).toBe(second);
    expect(await topOf(first ?? "")).toBe(first);
    expect(await topOf("letters into cellar")).toBe("office.file_away");
    const stranger = { principal: { id: "stranger", scopes: ["x"], allowWrite: false } };
    expect(await topOf("letters into cellar", stranger)).not.toBe("office.file_away");
    await gateway.close();

    const restarted = createGateway({ domains, learning: { log } });
    expect((await restarted.ask({ query: "paper scan please" })).hits[0]?.op).toBe(second);
    const forgetful = createGateway({ domains, learning: false });
    expect((await forgetful.ask({ query: "paper scan please" })).hits[0]?.op).toBe(first);
  },
);

test("a call that has nothing to do with the ask before it does not mislead later asks", async () => {
  const systems = createSystems();
  const gateway = createGateway({
    domains: systems.flatMap((system) => system.domains),
    sources: systems.flatMap((system) => system.sources),
  });
  const OWNER = { principal: PLAYGROUND };
  const need = "who is behind these accounts";
  const before = await gateway.ask({ query: need }, OWNER);
  const asked = await gateway.ask({ query: "two accounts seem to belong to one customer" }, OWNER);
  const stray = "onto.project.create";
  expect([...before.hits, ...asked.hits].map((hit) => hit.op)).not.toContain(stray);
  const made = await gateway.exec({ op: stray, args: { title: "Website" } }, OWNER);
  expect(made).toMatchObject({ ok: true });
  const after = await gateway.ask({ query: need }, OWNER);
  expect(after.hits.map((hit) => hit.op)).toEqual(before.hits.map((hit) => hit.op));
  await gateway.close();
  await Promise.all(systems.map((system) => system.close()));
});

test("a tool that fails after an ask loses what its uses had brought; wrong params do not count", async () => {
  let fails = false;
  const tool = (name: string) =>
    defineTool({
      name,
      description: `The tool ${name}.`,
      inputSchema: z.object({ count: z.number().optional() }),
      execute: () => {
        if (fails) throw new Error("paper jam");
        return name;
      },
    });
  const office = defineDomain({
    name: "office",
    description: "Papers and post.",
    tools: [tool("scan_paper"), tool("scan_paper_fast")],
  });
  const gateway = createGateway({ domains: [office] });
  const query = "paper scan please";
  const order = async () => (await gateway.ask({ query })).hits.map((hit) => hit.op);
  const [first = "", second = ""] = await order();
  await gateway.exec({ op: second });
  expect((await order())[0]).toBe(second);
  expect(await gateway.exec({ op: second, args: { count: "many" } })).toMatchObject({ ok: false });
  expect((await order())[0]).toBe(second);
  fails = true;
  expect(await gateway.exec({ op: second })).toMatchObject({ ok: false });
  expect((await order())[0]).toBe(first);
  await gateway.close();
});

test("frequent next calls become guidance, and unmet queries are reported", async () => {
  const gateway = createGateway({ domains });
  for (let time = 0; time < 3; time++) {
    await gateway.exec({ op: "office.paper.scan" });
    await gateway.exec({ op: "office.stamp.find" });
  }
  const answer = await gateway.exec({ op: "office.paper.scan" });
  expect(answer.ok && answer.guidance?.map((step) => step.route)).toEqual(["office://tools/stamp/find"]);
  await gateway.ask({ query: "brew coffee" });
  await gateway.ask({ query: "brew tea" });
  expect((await gateway.report()).unmet).toMatchObject([{ query: "brew coffee", times: 1, empty: true }]);
});
