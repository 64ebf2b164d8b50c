import { fork } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createGateway, defineDomain, defineTool, type KeyholeEvent, onEvent } from "keyhole";
import { createEmbeddedIndex, createStaticEmbedder } from "keyhole/search";
import { expect, test } from "vitest";
import { openEmbeddedIndex } from "../src/search/embedded-index.ts";
import { verifies } from "./claims.ts";
import { isMeasuring } from "./is-measuring.ts";
import { createShop } from "./shop.ts";

/** `npm run verify` kills more often than other runs. */
const KILLS = isMeasuring() ? 300 : 30;
const MOST_KILLS = 300;
const embedder = createStaticEmbedder();
const folder = () => mkdtempSync(join(tmpdir(), "keyhole-search-"));

function office(count: number) {
  const things = [
    "invoice",
    "letter",
    "contract",
    "stamp",
    "envelope",
    "folder",
    "meeting",
    "room",
    "printer",
  ];
  const verbs = ["create", "list", "find", "archive", "send", "print"];
  const tools = Array.from({ length: count }, (_, number) => {
    const name = `${verbs[number % verbs.length]}_${things[number % things.length]}_${number}`;
    return defineTool({
      name,
      description: `Works on a ${things[number % things.length]}.`,
      execute: () => name,
    });
  });
  return [defineDomain({ name: "office", description: "An office.", tools })];
}

verifies(
  ["search:snapshot", "index-damage"],
  "a start reads it, another catalog updates the difference, and damage causes a reported rebuild",
  async () => {
    const snapshot = join(folder(), "search.bin");
    const notices: string[] = [];
    const stop = onEvent(
      (event: KeyholeEvent) =>
        event.type === "notice" &&
        event.notice !== "lane-guessed" &&
        notices.push(`${event.notice}: ${event.detail}`),
    );
    const answer = async (domains = office(300)) => {
      notices.length = 0;
      const index = createEmbeddedIndex({ embedder, snapshot });
      const gateway = createGateway({ domains, index, learning: false });
      await gateway.ready();
      await index.settled();
      const { hits } = await gateway.ask({ query: "mail an invoice" });
      await gateway.close();
      return { routes: hits.map((hit) => hit.route), said: notices.join("\n") };
    };

    const fresh = async (domains: ReturnType<typeof office>) => {
      const index = createEmbeddedIndex({ embedder });
      const gateway = createGateway({ domains, index, learning: false });
      await gateway.ready();
      await index.settled();
      const { hits } = await gateway.ask({ query: "mail an invoice" });
      return { routes: hits.map((hit) => hit.route), said: "" };
    };

    const built = await answer();
    expect(built.said).toContain("cannot be read (ENOENT)");
    const restored = await answer();
    expect(restored).toEqual({ routes: built.routes, said: "" });
    expect(await answer(office(290))).toEqual(await fresh(office(290)));

    await answer();
    const bytes = readFileSync(snapshot);
    bytes[bytes.length >> 1]! ^= 1;
    writeFileSync(snapshot, bytes);
    const rebuilt = await answer();
    expect(rebuilt.said).toContain("checksum");
    expect(rebuilt.routes).toEqual(built.routes);
    stop();
  },
);

verifies(
  ["search:snapshot", "kill-during-write"],
  "a process killed during a write leaves the old state or the new one",
  async () => {
    const directory = folder();
    const path = join(directory, "search.bin");
    const writer = join(import.meta.dirname, "snapshot-writer.ts");
    const seen = new Set<number>();
    for (let kill = 0; kill < KILLS || (seen.size < 2 && kill < MOST_KILLS); kill += 10) {
      await Promise.all(
        Array.from({ length: 10 }, async (_, offset) => {
          const own = `${path}.${offset}`;
          const child = fork(writer, [own], { stdio: "ignore" });
          await new Promise((resolve) => child.once("message", resolve));
          await new Promise((resolve) => setTimeout(resolve, Math.random() * 40));
          child.kill("SIGKILL");
          await new Promise((resolve) => child.once("exit", resolve));
          const opened = await openEmbeddedIndex(own);
          if (!opened.ok) throw new Error(opened.reason);
          const documents = opened.value.status().documents ?? 0;
          expect([100, 200]).toContain(documents);
          seen.add(documents);
        }),
      );
    }
    expect(seen.size).toBe(2);
    expect(readdirSync(directory).filter((name) => !name.endsWith(".tmp"))).toHaveLength(10);
  },
);

verifies("search:says-mode", "words alone without an embedder, words and vectors with one", async () => {
  const plain = createGateway({ domains: createShop().domains, index: createEmbeddedIndex() });
  await plain.ask({ query: "orders" });
  expect((await plain.report()).search).toMatchObject({ mode: "lexical" });

  const index = createEmbeddedIndex({ embedder });
  const both = createGateway({ domains: createShop().domains, index });
  await both.ready();
  await index.settled();
  expect((await both.report()).search).toMatchObject({ mode: "hybrid", waiting: 0 });
  const meant = await both.ask({ query: "give the client his cash back" });
  expect(meant.hits[0]?.op).toBe("shop.refund.send");

  const failing = {
    id: "broken@1",
    dimensions: 3,
    embed: async () => Promise.reject(new TypeError("no network")),
  };
  const broken = createEmbeddedIndex({ embedder: failing });
  const gateway = createGateway({ domains: createShop().domains, index: broken });
  expect((await gateway.ask({ query: "newest orders" })).hits[0]?.op).toBe("shop.order.list");
  await broken.settled();
  expect((await gateway.report()).search).toMatchObject({ mode: "lexical", reason: "no network" });
});

verifies(
  ["search:stuffing", "T11"],
  "a tool stuffed with words wins no other tool's query and fills no page",
  async () => {
    const honest = createShop().domains[0]!;
    const words = honest.tools!.map((tool) => `${tool.name} ${tool.description}`).join(" ");
    const stuffed = defineDomain({
      name: "spam",
      description: words.repeat(3),
      tools: Array.from({ length: 30 }, (_, number) =>
        defineTool({
          name: `helper_${number}`,
          description: `${words} `.repeat(40),
          phrases: [words],
          execute: () => "",
        }),
      ),
    });
    const index = createEmbeddedIndex({ embedder });
    const gateway = createGateway({ domains: [honest, stuffed], index, learning: false });
    await gateway.ready();
    await index.settled();
    const queries: [string, string][] = [
      ["list the newest orders", "shop.order.list"],
      ["create an order for a customer", "shop.order.create"],
      ["delete an order for good", "shop.order.delete"],
      ["send money back to a customer", "shop.refund.send"],
    ];
    for (const [query, op] of queries) {
      const { hits } = await gateway.ask({ query, limit: 10 });
      expect(hits[0]?.op, query).toBe(op);
    }
    const page = (await gateway.ask({ query: "orders", limit: 5 })).hits;
    expect(page.filter((hit) => hit.domain === "spam").length).toBeLessThanOrEqual(4);
  },
);

test("explain lists the score of each field, word and signal", async () => {
  const index = createEmbeddedIndex({ embedder });
  const gateway = createGateway({ domains: createShop().domains, index });
  await gateway.ready();
  await index.settled();
  const { explanations } = await gateway.ask({ query: "newest orders", explain: true });
  expect(explanations?.["shop://tools/order/list"]).toMatchObject({
    lexical: expect.any(Number),
    vector: expect.any(Number),
    exactName: false,
    fields: { description: expect.any(Number) },
    terms: expect.arrayContaining([expect.objectContaining({ term: "newest", fields: ["description"] })]),
  });
  expect(await gateway.ask({ query: "newest orders" })).not.toHaveProperty("explanations");
});

test("a domain's searchConfig chooses fields and their weights", async () => {
  const tools = [
    defineTool({ name: "alpha", description: "Mentions zebra once.", execute: () => "" }),
    defineTool({ name: "zebra_tool", description: "Something else.", execute: () => "" }),
  ];
  const best = async (searchConfig?: { queryBy: string; weights: string }) => {
    const domain = defineDomain({
      name: "zoo",
      description: "Animals.",
      tools,
      ...(searchConfig && { searchConfig }),
    });
    const gateway = createGateway({ domains: [domain], index: createEmbeddedIndex(), learning: false });
    return (await gateway.ask({ query: "the zebra of my dreams" })).hits[0]?.name;
  };
  expect(await best()).toBe("zebra_tool");
  expect(await best({ queryBy: "description,name", weights: "100,1" })).toBe("alpha");
});
