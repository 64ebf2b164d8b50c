import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createGateway, defineDomain, defineTool } from "keyhole";
import { expect, test } from "vitest";
import { temporaryFolder } from "./temporary-folder.ts";

function gatewayOf(names: readonly string[], cacheDirectory?: string) {
  const domains = names.map((name) =>
    defineDomain({
      name,
      description: "One of many.",
      tools: [defineTool({ name: "list_things", description: "List things.", execute: () => [] })],
    }),
  );
  return createGateway({ domains, ...(cacheDirectory !== undefined && { cacheDirectory }) });
}

const MANY = Array.from({ length: 150 }, (_, index) => `domain${index}`);

test("a cached menu has the same bytes as a computed one", async () => {
  const folder = temporaryFolder();
  const plain = await gatewayOf(MANY).menu();
  const first = await gatewayOf(MANY, folder).menu();
  const kept = await gatewayOf(MANY, folder).menu();
  expect([JSON.stringify(first), JSON.stringify(kept)]).toEqual([
    JSON.stringify(plain),
    JSON.stringify(plain),
  ]);
});

test("a cached menu is used, and only for its own catalog", async () => {
  const folder = temporaryFolder();
  const path = join(folder, "menus.json");
  await gatewayOf(["shop"], folder).menu();
  writeFileSync(path, readFileSync(path, "utf8").replace("shop", "kept"));
  expect((await gatewayOf(["shop"], folder).menu())[0]?.description).toContain("kept");
  expect((await gatewayOf(["bank"], folder).menu())[0]?.description).toContain("bank");
});

test.each(["", "{", "[[1,2]]", '{"a":"b"}'])("a damaged cache file is ignored: %j", async (content) => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "menus.json"), content);
  expect((await gatewayOf(["shop"], folder).menu())[0]?.description).toContain("shop");
});

test("an unwritable folder only costs the next start a count", async () => {
  const file = join(temporaryFolder(), "file");
  writeFileSync(file, "");
  expect((await gatewayOf(["shop"], file).menu())[0]?.description).toContain("shop");
});
