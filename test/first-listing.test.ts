import { createGateway, defineDomain, defineTool } from "keyhole";
import { createEmbeddedIndex } from "keyhole/search";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";

const domain = defineDomain({
  name: "notes",
  description: "Notes.",
  tools: ["create_note", "search_notes"].map((name) =>
    defineTool({
      name,
      description: `Does ${name}.`,
      inputSchema: z.object({}),
      execute: () => "done",
    }),
  ),
});

/** An index whose puts wait until the test releases them. */
function gatedIndex() {
  const index = createEmbeddedIndex();
  let gate: Promise<void> | undefined;
  return {
    hold: () => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      // The caller of put sees the failure.
      promise.catch(() => {});
      gate = promise;
      return { resolve, reject };
    },
    index: {
      ...index,
      put: async (documents: Parameters<typeof index.put>[0]) => {
        await gate;
        await index.put(documents);
      },
    },
  };
}

function open({ index, hold }: ReturnType<typeof gatedIndex>) {
  const held = hold();
  const gateway = createGateway({
    domains: [domain],
    index,
    principal: { id: "a", scopes: [], allowWrite: true },
  });
  onTestFinished(() => gateway.close());
  return { gateway, held };
}

test("entries are listed and run before they are indexed; a search waits", async () => {
  const gated = gatedIndex();
  const { gateway, held } = open(gated);
  expect((await gateway.menu()).map(({ name }) => name)).toContain("ask");
  expect((await gateway.help({ path: "notes.note.create" })).text).toContain("create_note");
  expect((await gateway.exec({ op: "notes.note.create" })).ok).toBe(true);
  let found = false;
  const asked = gateway.ask({ query: "create note" }).then(({ hits }) => {
    found = true;
    return hits;
  });
  const ready = gateway.ready();
  await gateway.get({ routes: [{ route: "notes.note.search" }] });
  expect(found).toBe(false);
  held.resolve();
  await ready;
  expect((await asked)[0]?.op).toBe("notes.note.create");
});

test("an index that fails at the start fails only searches, until it is filled", async () => {
  const gated = gatedIndex();
  const { gateway, held } = open(gated);
  held.reject(new Error("the engine is down"));
  await expect(gateway.ready()).rejects.toThrow("the engine is down");
  expect(await gateway.ask({ query: "create note" })).toMatchObject({
    ok: false,
    error: { message: expect.stringContaining("the engine is down") },
  });
  expect((await gateway.exec({ op: "notes.note.create" })).ok).toBe(true);
  gated.hold().resolve();
  await gateway.setDomains([domain]);
  expect((await gateway.ask({ query: "create note" })).hits[0]?.op).toBe("notes.note.create");
});

test("after the start, no entry is shown before search finds it", async () => {
  const gated = gatedIndex();
  const { gateway, held } = open(gated);
  held.resolve();
  await gateway.ready();
  const more = defineDomain({ name: "more", description: "More.", tools: domain.tools ?? [] });
  const later = gated.hold();
  const replaced = gateway.setDomains([domain, more]);
  expect((await gateway.ask({ query: "create note" })).hits.every((hit) => hit.domain === "notes")).toBe(
    true,
  );
  expect((await gateway.view()).domains.has("more")).toBe(false);
  later.resolve();
  await replaced;
  expect((await gateway.view()).domains.has("more")).toBe(true);
  expect((await gateway.ask({ query: "create note" })).hits.some((hit) => hit.domain === "more")).toBe(true);
});
