import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createGateway, type Gateway, type KeyholeEvent, onEvent, type Source } from "keyhole";
import { createOpenApiSource } from "keyhole/sources";
import { expect, onTestFinished, test } from "vitest";
import { faceApiOf } from "../src/gateway/face-api.ts";
import { verifies } from "./claims.ts";
import { manualClock } from "./manual-clock.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { chaos, eventually, gatewayOf, operator, processesWith } from "./upstream-kit.ts";

function opened(gateway: Gateway): Gateway {
  onTestFinished(() => gateway.close());
  return gateway;
}

/** A source in memory that counts its starts and ends. */
function counted(label: string, digest: string) {
  const state = { started: 0, ended: 0 };
  const source: Source = {
    id: `test:${label}`,
    digest,
    contents: async function* (signal) {
      state.started += 1;
      yield {
        domains: [{ name: label, description: "Counted things.", scopes: [], rules: [] }],
        drafts: [],
      };
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      state.ended += 1;
    },
  };
  return { source, state };
}

verifies(
  "lifecycle:sources",
  "unchanged sources keep running, removed ones end, new ones appear",
  async () => {
    const [a, b, c] = [counted("a", "1"), counted("b", "1"), counted("c", "1")];
    const gateway = opened(createGateway({ domains: [], sources: [a.source, b.source] }));
    await gateway.ready();
    const sameA = counted("a", "1");
    const otherB = counted("b", "2");
    await gateway.sources.set([sameA.source, otherB.source, c.source]);
    expect([a, b, c, sameA, otherB].map(({ state }) => state.started)).toEqual([1, 1, 1, 0, 1]);
    await eventually(() => expect(b.state.ended).toBe(1));
    expect(a.state.ended).toBe(0);
    expect(faceApiOf(gateway).sources()).toEqual([a.source, otherB.source, c.source]);
    expect(faceApiOf(gateway).sources()[0]).toBe(a.source);
    expect((await gateway.sources.status()).map(({ id }) => id)).toEqual(["test:a", "test:b", "test:c"]);
    await expect(gateway.sources.set([a.source, a.source])).rejects.toMatchObject({
      code: "CATALOG_INVALID",
    });
    await gateway.sources.set([]);
    expect(await gateway.sources.status()).toEqual([]);
    await eventually(() => expect([a, otherB, c].map(({ state }) => state.ended)).toEqual([1, 1, 1]));
  },
);

verifies("lifecycle:sources", "a removed server ends after its calls in flight", async () => {
  const word = `KEYHOLE_TEST_${Math.random().toString(36).slice(2)}`;
  const log = join(temporaryFolder(), "calls");
  const gone = chaos("gone", { env: { [word]: "1", CHAOS_LOG: log } });
  const stays = chaos("stays");
  const gateway = opened(gatewayOf([gone, stays], { limits: { callMs: 3_000 } }));
  await gateway.ready();
  const hung = gateway.exec({ op: "gone.hang", args: {} });
  await eventually(() => expect(readFileSync(log, "utf8")).toBe("hang\n"));
  const { starts, pid } = stays.diagnostics();
  await gateway.sources.set([stays]);
  // The hanging call neither delays setSources nor is cut off.
  expect(processesWith(word)).not.toEqual([]);
  expect(await gateway.exec({ op: "gone.add", args: {} })).toMatchObject({ error: { code: "NOT_FOUND" } });
  expect(await hung).toMatchObject({ ok: false, error: { code: "TIMEOUT" } });
  await eventually(() => expect(processesWith(word)).toEqual([]));
  expect(stays.diagnostics()).toMatchObject({ starts, pid });
});

verifies("lifecycle:sources", "a server is listed again by its label", async () => {
  const lists = join(temporaryFolder(), "lists");
  const gateway = opened(gatewayOf([chaos("tasks", { env: { CHAOS_LISTS: lists } })]));
  await gateway.ready();
  await gateway.sources.refresh("tasks");
  expect(readFileSync(lists, "utf8")).toBe("list\nlist\n");
  expect(await gateway.sources.status("tasks")).toMatchObject({
    id: "mcp:tasks",
    count: 18,
    isFresh: true,
  });
});

verifies("upstream:faults", "a server that recovers after an hour is used again", async () => {
  const clock = manualClock();
  const variables: Record<string, string> = { CHAOS_WORD: "exit" };
  const source = chaos("bad", {
    clock,
    variables,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: filled in from the variables.
    env: { CHAOS_START: "${CHAOS_WORD:-}" },
  });
  const gateway = opened(gatewayOf([source, chaos("good")]));
  await gateway.ready();
  for (let minute = 0; minute < 60; minute++) await clock.advance(60_000);
  const refused = await gateway.exec({ op: "bad.add", args: {} });
  expect(refused.ok).toBe(false);
  expect((await gateway.ask({ query: "bad" })).text).toContain("server_down");
  expect(await gateway.exec({ op: "good.add", args: { a: 1 } })).toMatchObject({ ok: true });

  variables.CHAOS_WORD = "";
  await eventually(async () => {
    await clock.advance(60_000);
    expect(await gateway.exec({ op: "bad.add", args: { a: 2 } })).toMatchObject({
      ok: true,
      result: { a: 2 },
    });
  }, 30_000);
  expect((await gateway.ask({ query: "bad.add" })).text).not.toContain("server_down");
});

verifies(
  "upstream:says-kept",
  "an answer from a cached listing is the answer of the listed server",
  async () => {
    const cacheDirectory = temporaryFolder();
    const first = gatewayOf([chaos("bad", { cacheDirectory })]);
    await first.ready();
    const live = await first.ask({ query: "bad.add" });
    const menu = await first.menu();
    expect(live.notes).toEqual([]);
    await first.close();

    const second = opened(gatewayOf([chaos("bad", { cacheDirectory })]));
    const kept = await second.ask({ query: "bad.add" });
    expect(kept.notes).toEqual([]);
    expect(kept.text).toBe(live.text);
    expect(JSON.stringify(await second.menu())).toBe(JSON.stringify(menu));
    const { version } = second;
    await second.exec({ op: "bad.add", args: {} });
    expect((await second.ask({ query: "bad.add" })).notes).toEqual([]);
    expect(second.version).toBe(version);
  },
);

test("a refresh reads an API document again, and an invalid document changes nothing", async () => {
  const path = (name: string) => ({ [`/${name}`]: { get: { operationId: `list_${name}`, responses: {} } } });
  const document = {
    openapi: "3.0.0",
    info: { title: "Shop" },
    servers: [{ url: "https://shop.example" }],
    paths: path("orders") as object,
  };
  const gateway = opened(
    createGateway({ domains: [], sources: [createOpenApiSource("shop", { document })], principal: operator }),
  );
  const ops = async () => (await gateway.view()).entries.map(({ name }) => name);
  expect(await ops()).toEqual(["list_orders"]);
  document.paths = { ...path("orders"), ...path("carts") };
  await gateway.sources.refresh("shop");
  expect(await ops()).toEqual(["list_carts", "list_orders"]);
  document.openapi = "4";
  await expect(gateway.sources.refresh("shop")).rejects.toMatchObject({ code: "SOURCE_INVALID" });
  expect(await ops()).toEqual(["list_carts", "list_orders"]);
});

test("a source that could not be read at the start can be read later", async () => {
  const events: KeyholeEvent[] = [];
  onTestFinished(onEvent((event) => events.push(event)));
  const document: Record<string, unknown> = { openapi: "4", paths: {} };
  const gateway = opened(
    createGateway({ domains: [], sources: [createOpenApiSource("shop", { document })] }),
  );
  expect(await gateway.sources.status("shop")).toMatchObject({
    isFresh: false,
    lastError: expect.any(String),
  });
  expect(events).toContainEqual(
    expect.objectContaining({ type: "source", source: "openapi:shop", state: "failed" }),
  );
  await expect(gateway.sources.refresh("shop")).rejects.toMatchObject({ code: "SOURCE_INVALID" });
  Object.assign(document, { openapi: "3.1.0", servers: [{ url: "https://shop.example" }] });
  await gateway.sources.refresh();
  expect(await gateway.sources.status("shop")).toMatchObject({ isFresh: true });
});
