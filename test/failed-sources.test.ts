import { createGateway, type Principal } from "keyhole";
import { expect, onTestFinished, test } from "vitest";
import type { Source } from "../src/core/nouns/source.ts";
import { createShop, reader } from "./shop.ts";

function failing(id: string, scopes: readonly string[] = []): Source {
  return {
    id,
    scopes,
    // biome-ignore lint/correctness/useYield: it fails before it has anything
    contents: async function* () {
      throw new Error("the folder is gone");
    },
  };
}

function open(sources: readonly Source[], domains: Parameters<typeof createGateway>[0]["domains"] = []) {
  const gateway = createGateway({ domains, sources, principal: reader });
  onTestFinished(() => gateway.close());
  const ask = async (principal: Principal) =>
    (await gateway.ask({ query: "holiday rules" }, { principal })).text;
  return { gateway, ask };
}

test("a source that failed is named with its reason, never as an empty catalog", async () => {
  const { gateway, ask } = open([failing("markdown:wiki")]);
  const text = await ask(reader);
  expect(text).toContain("wiki could not be read: the folder is gone");
  expect(text).not.toContain("The catalog is empty");
  expect((await gateway.help({ path: "" })).text).toContain("wiki could not be read: the folder is gone");
});

test("a source that failed is named beside those that can be read", async () => {
  const { ask } = open([failing("markdown:wiki")], createShop().domains);
  expect(await ask(reader)).toContain("wiki could not be read: the folder is gone");
});

test("T12: callers without the scopes of a source are not told that it failed", async () => {
  const { ask } = open([failing("markdown:secret", ["board"])]);
  expect(await ask(reader)).toBe(await open([]).ask(reader));
  expect(await ask({ ...reader, scopes: ["board"] })).toContain("secret could not be read");
});
