import { readdirSync } from "node:fs";
import { join } from "node:path";
import { createGateway } from "keyhole";
import { createEmbeddedIndex } from "keyhole/search";
import { expect, onTestFinished, test } from "vitest";
import { onNotice } from "../src/core/telemetry/events.ts";
import { openIndex } from "../src/program/open/stores.ts";
import { verifies } from "./claims.ts";
import { createShop } from "./shop.ts";
import { temporaryFolder } from "./temporary-folder.ts";

verifies(
  "search:snapshot",
  "the program keeps the index of a config, and its first start warns of nothing",
  async () => {
    const before = process.env.XDG_CACHE_HOME;
    process.env.XDG_CACHE_HOME = temporaryFolder();
    const told: string[] = [];
    const stop = onNotice((event) => told.push(JSON.stringify(event)));
    onTestFinished(() => {
      stop();
      if (before === undefined) delete process.env.XDG_CACHE_HOME;
      else process.env.XDG_CACHE_HOME = before;
    });
    const folder = join(process.env.XDG_CACHE_HOME, "keyhole", "indexes");
    for (const config of ["/a.json", "/a.json", "/b.json"]) {
      const gateway = createGateway({ domains: createShop().domains, index: openIndex([config]) });
      expect((await gateway.ask({ query: "refund" })).text).toContain("refund");
      await gateway.close();
    }
    expect(readdirSync(folder)).toHaveLength(2);
    expect(told.filter((text) => text.includes("snapshot"))).toEqual([]);
  },
);

test("closing a gateway twice keeps its index once and tells of no failure", async () => {
  const told: string[] = [];
  onTestFinished(onNotice((event) => told.push(JSON.stringify(event))));
  const snapshot = join(temporaryFolder(), "index");
  const gateway = createGateway({ domains: createShop().domains, index: createEmbeddedIndex({ snapshot }) });
  await gateway.ask({ query: "refund" });
  await gateway.close();
  await gateway.close();
  expect(told.join()).not.toContain("snapshot-failed");
});
