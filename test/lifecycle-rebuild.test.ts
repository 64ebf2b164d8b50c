import { createGateway, type Source } from "keyhole";
import { expect, onTestFinished } from "vitest";
import { verifies } from "./claims.ts";
import { createLibrary, libraryDomain, openLibrary, readBook } from "./library.ts";
import { manualClock } from "./manual-clock.ts";

verifies("lifecycle:rebuild", "a restart reads stale sources only", async () => {
  const clock = manualClock();
  const quick = createLibrary({ a: "x" }, { name: "quick" });
  const slow = createLibrary({ b: "y" }, { name: "slow" });
  const failing = createLibrary({ c: "z" }, { name: "failing" });
  failing.broken = "c";
  const domain = libraryDomain([quick, { cacheTtlMs: 0 }], slow, failing);
  const gateway = createGateway({ domains: [domain], clock });
  onTestFinished(() => gateway.close());
  await gateway.ready();
  failing.broken = undefined;
  await gateway.sources.refresh();
  expect([quick.listed, slow.listed, failing.listed]).toEqual([2, 1, 2]);
  expect(await readBook(gateway, "c")).toBe("z");
});

verifies("lifecycle:rebuild", "restart and rebuild name the sources that failed", async () => {
  const good = createLibrary({ a: "x" }, { name: "good" });
  const bad = createLibrary({ b: "y" }, { name: "bad" });
  bad.broken = "b";
  const gateway = createGateway({ domains: [libraryDomain(good, bad)] });
  onTestFinished(() => gateway.close());
  await gateway.ready();
  const problem = { code: "CALL_FAILED", message: expect.stringContaining("the shelf of b fell down") };
  const failed = [{ source: "books/bad", problem }];
  expect(await gateway.sources.refresh()).toMatchObject({ wasFresh: false, failed });
  expect(await gateway.sources.rebuild()).toMatchObject({ wasFresh: false, failed });
  expect(await readBook(gateway, "a")).toBe("x");

  bad.broken = undefined;
  expect(await gateway.sources.refresh()).toEqual({ wasFresh: false, failed: [] });
  expect(await gateway.sources.refresh()).toEqual({ wasFresh: true, failed: [] });
  expect(await gateway.sources.rebuild()).toEqual({ wasFresh: true, failed: [] });
  expect(good.fetched).toEqual(["a", "a", "a"]);
});

verifies("lifecycle:rebuild", "restart names a source whose content the catalog refuses", async () => {
  const source: Source = {
    id: "test:wrong",
    contents: async function* (signal) {
      yield { domains: [], drafts: [], errors: ["wrong.ts: it has no name"] };
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    },
  };
  const gateway = createGateway({ domains: [], sources: [source] });
  onTestFinished(() => gateway.close());
  expect(await gateway.sources.refresh()).toMatchObject({
    wasFresh: false,
    failed: [{ source: "test:wrong", problem: { code: "CATALOG_INVALID" } }],
  });
});

verifies(
  "lifecycle:rebuild",
  "a rebuild fetches everything once, and nothing is missing meanwhile",
  async () => {
    const books = Object.fromEntries(
      Array.from({ length: 300 }, (_, number) => [`book-${number}`, `Volume ${number} on whales.`]),
    );
    const library = createLibrary(books);
    const gateway = openLibrary(library);
    await gateway.ready();
    let over = false;
    const rebuilt = Promise.all([gateway.sources.rebuild(), gateway.sources.rebuild()]).then(() => {
      over = true;
    });
    let asked = 0;
    while (!over) {
      const { hits } = await gateway.ask({ query: "book-217 volume 217 on whales", limit: 50 });
      expect(hits.map(({ name }) => name)).toContain("book-217");
      expect(await readBook(gateway, "book-3")).toBe("Volume 3 on whales.");
      asked += 1;
      await new Promise(setImmediate);
    }
    await rebuilt;
    expect(asked).toBeGreaterThan(0);
    expect(library.fetched).toHaveLength(600);
  },
);
