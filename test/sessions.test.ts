import { join } from "node:path";
import {
  createGateway,
  createSqliteSessionStore,
  defineDomain,
  defineTool,
  loadTokenCounter,
  type OpenStorage,
  onEvent,
} from "keyhole";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { createSessionStore } from "../src/core/storage/session-store.ts";
import { openSqliteStorage } from "../src/core/storage/sql-storage.ts";
import { verifies } from "./claims.ts";
import { ann, bob, openPages, pages, textOf } from "./pages.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const countTokens = await loadTokenCounter();

describe("a session", () => {
  test("an ask again names what earlier answers showed in one line, except the best hit", async () => {
    const tool = (name: string, visibility: "entry" | "listed" = "listed") =>
      defineTool({ name, description: `The tool ${name}.`, visibility, execute: () => name });
    const tools = [tool("list_pages"), tool("list_drafts"), tool("list_authors"), tool("overview", "entry")];
    const gateway = createGateway({
      domains: [defineDomain({ name: "cms", description: "Pages.", tools })],
      learning: false,
    });
    const ask = (query: string, session?: string) =>
      gateway.ask({ query, limit: 3, ...(session && { session }) });
    const first = await ask("list drafts", "new");
    expect(first.text).not.toContain("shown before");
    expect(first.hits.map(({ name }) => name)).toContain("overview");

    const again = await ask("list pages", first.session);
    const [best, ...others] = again.hits;
    expect(best).toMatchObject({ name: "list_pages", signature: "()" });
    expect(others.map(({ name }) => name).toSorted()).toEqual(["list_authors", "list_drafts"]);
    for (const hit of others) {
      expect(hit).toMatchObject({ shownBefore: true });
      expect(hit).not.toHaveProperty("signature");
    }
    const note = `Also fits, shown before in this session: ${others.map(({ op }) => op).join(", ")}`;
    expect(again.text.split("\n").filter((line) => /list_|\.list|overview/.test(line))).toHaveLength(2);
    expect(again.text.split("\n")).toContain(note);

    expect((await ask("list pages", "new")).text).not.toContain("shown before");
    expect((await ask("list pages")).text).not.toContain("shown before");
    await gateway.close();
  });

  verifies("session:memory", "remembers entries that were found, described, used and unveiled", async () => {
    const { gateway, session } = await openPages();
    const memory = async () => (await gateway.session(session)).memory;
    expect((await memory()).discoveredTools).toEqual([]);
    const { hits } = await gateway.ask({ query: "list pages", limit: 1, session });
    expect((await memory()).discoveredTools).toEqual(hits.map(({ op }) => op));
    expect((await memory()).rules).toEqual(["cms/pages"]);
    await gateway.help({ path: "cms.page.publish", session });
    expect((await memory()).discoveredTools).toContain("cms.page.publish");
    await gateway.get({ routes: [{ route: "cms.page.get", params: { id: 1 } }], session });
    await gateway.exec({ op: "cms.page.get", args: { id: 2 }, session });
    await gateway.batch({ requests: [{ exec: { op: "cms.page.publish" } }], session });
    expect((await memory()).usedTools).toMatchObject([
      { name: "cms.page.get", count: 2, lastResult: "success" },
      { name: "cms.page.publish", count: 1, lastResult: "error" },
    ]);
    expect((await memory()).unveiled).toEqual(["cms://tools/page/history"]);
    expect((await memory()).entities.map(({ id }) => id).sort()).toEqual(["1", "2"]);
  });

  verifies("session:memory", "does not count dry runs and refused calls as use", async () => {
    const { gateway, session } = await openPages();
    await gateway.exec({ op: "cms.page.get", args: { id: 1 }, dryRun: true, session });
    await gateway.exec({ op: "cms.page.get", args: { nothing: 1 }, session });
    expect((await gateway.session(session)).memory.usedTools).toEqual([]);
    expect((await gateway.session(session)).memory.entities).toEqual([]);
  });

  verifies("session:memory", "continues after a restart", async () => {
    const path = join(temporaryFolder(), "state.db");
    const first = await createSqliteSessionStore(path);
    const before = createGateway({ domains: [pages], principal: ann, sessions: first });
    const { session = "" } = await before.ask({ query: "list pages", session: "new" });
    await before.exec({ op: "cms.page.get", args: { id: 7 }, session });
    await before.close();
    first.close();
    const second = await createSqliteSessionStore(path);
    const after = createGateway({ domains: [pages], principal: ann, sessions: second });
    expect((await after.session(session)).memory.entities.map(({ name }) => name)).toEqual(["Page 7"]);
    expect((await after.ask({ query: "list pages", session })).rules).toEqual([]);
    expect((await after.report({ session })).ledger.tokens.results).toBeGreaterThan(0);
    await after.close();
    second.close();
  });

  verifies("session:bounded", "keeps five entities of a result and ten in all", async () => {
    const { gateway, session } = await openPages();
    const found = await gateway.get({ routes: [{ route: "cms.page.list" }], session });
    expect(found.summary.succeeded).toBe(1);
    expect((await gateway.session(session)).memory.entities).toHaveLength(5);
    const routes = Array.from({ length: 30 }, (_, id) => ({ route: "cms.page.get", params: { id } }));
    await gateway.get({ routes, session });
    expect((await gateway.session(session)).memory.entities).toHaveLength(10);
  });

  verifies("session:principal", "refuses the handle of another principal", async () => {
    const { gateway } = await openPages();
    const handles = new Map([
      [ann, await gateway.openSession({ principal: ann })],
      [bob, await gateway.openSession({ principal: bob })],
    ]);
    for (const [principal, session] of handles) {
      await gateway.exec({ op: "cms.page.get", args: { id: principal.id }, session }, { principal });
    }
    const [annHandle, bobHandle] = [handles.get(ann)!, handles.get(bob)!];
    for (const [principal, session] of [
      [ann, bobHandle],
      [bob, annHandle],
    ] as const) {
      const options = { principal };
      const madeUp = "ses_AAAAAAAAAAAAAAAAAAAAAA";
      const failed = (answer: { readonly ok: boolean; readonly error?: object }) => {
        throw answer.ok ? "let in" : answer.error;
      };
      const tries = (handle: string) => [
        gateway.ask({ query: "page", session: handle }, options).then(failed),
        gateway.exec({ op: "cms.page.get", args: { id: 9 } }, { ...options, session: handle }).then(failed),
        gateway.report({ ...options, session: handle }),
        gateway.menu({ ...options, session: handle }),
        gateway.session(handle, options),
        gateway.get({ routes: [{ route: `session://${handle}` }] }, options).then(failed),
      ];
      const [swapped, unknown] = await Promise.all(
        [session, madeUp].map(async (handle) => {
          const settled = await Promise.allSettled(tries(handle));
          const reasons = settled.map((one) =>
            JSON.stringify(one.status === "rejected" ? one.reason : "let in"),
          );
          return reasons.map((reason) => reason.replaceAll(handle, "HANDLE"));
        }),
      );
      expect(swapped).toEqual(unknown);
      for (const reason of swapped!) expect(reason).toContain("UNKNOWN_HANDLE");
      expect(await gateway.openSession({ principal, resume: session })).not.toBe(session);
    }
    expect((await gateway.session(annHandle, { principal: ann })).memory.entities).toHaveLength(1);
  });

  verifies("session:nothing-lost", "counts every one of many concurrent calls", async () => {
    for (const sessions of [createSessionStore(), await createSqliteSessionStore(":memory:")]) {
      const { gateway, session } = await openPages({ sessions });
      await Promise.all(
        Array.from({ length: 200 }, (_, id) => gateway.exec({ op: "cms.page.get", args: { id }, session })),
      );
      expect((await gateway.session(session)).memory.usedTools).toMatchObject([
        { name: "cms.page.get", count: 200 },
      ]);
    }
  });

  test("in a driver of one's own outlives the gateway, as do results, without their secrets", async () => {
    const { open, close } = openSqliteStorage(join(temporaryFolder(), "own.db"));
    onTestFinished(close);
    const kinds = new Set<string>();
    const storage: OpenStorage = (kind, options) => {
      kinds.add(kind);
      return open(kind, options);
    };
    const rows = Array.from({ length: 3_000 }, (_, id) => ({
      id,
      token: "sk-abcdefghijklmnopqrstuvwxyz123456",
    }));
    const list = defineTool({
      name: "list_rows",
      op: "data.row.list",
      description: "Rows.",
      execute: () => rows,
    });
    const domains = [defineDomain({ name: "data", description: "Rows.", tools: [list] })];
    const first = createGateway({ domains, storage });
    const session = await first.openSession();
    const { text } = await first.exec({ op: "data.row.list", args: {}, session });
    const [handle = ""] = /result:\/\/[\w-]+/.exec(text) ?? [];
    await first.close();

    const next = createGateway({ domains, storage });
    onTestFinished(() => next.close());
    expect((await next.session(session)).memory.usedTools).toMatchObject([
      { name: "data.row.list", count: 1 },
    ]);
    const read = await next.get({ routes: [{ route: handle, params: { path: "/2999" } }], session });
    expect(read.results[0]).toMatchObject({
      ok: true,
      data: { content: { id: 2_999, token: "[secret]" } },
    });
    expect([...kinds].toSorted()).toEqual(["approval", "key", "learning", "plan", "result", "session"]);
  });

  verifies("session:nothing-lost", "that ends during a call does not fail the call", async () => {
    const { gateway, session } = await openPages({ domains: [] });
    await gateway.setDomains([
      defineDomain({
        name: "self",
        description: "Ends its session.",
        tools: [
          defineTool({
            name: "end_it",
            op: "self.end",
            description: "Ends it.",
            execute: async () => {
              await (await gateway.session(session)).end();
              return "done";
            },
          }),
        ],
      }),
    ]);
    const answer = await gateway.exec({ op: "self.end", session });
    expect(answer).toMatchObject({ ok: true, result: "done" });
    expect(await gateway.exec({ op: "self.end", session })).toMatchObject({
      ok: false,
      error: { code: "UNKNOWN_HANDLE" },
    });
  });
});

describe("extraction", () => {
  verifies("session:extraction", "prefers the tool's own extractor and never fails a call", async () => {
    const { gateway, session } = await openPages();
    const heard: string[] = [];
    onTestFinished(
      onEvent(
        (event) =>
          event.type === "notice" &&
          event.notice.startsWith("extraction") &&
          heard.push(`${event.notice} ${event.detail}`),
      ),
    );
    const matches = [{ type: "Image", id: "i1", name: "Hero" }];
    await gateway.exec({ op: "cms.resource.find", args: { matches }, session });
    expect((await gateway.session(session)).memory.entities).toMatchObject(matches);
    const broken = await openPages({
      domains: [
        {
          ...pages,
          entityExtractors: {
            find_resource: () => {
              throw new TypeError("no matches");
            },
          },
        },
      ],
    });
    const call = { op: "cms.resource.find", args: { matches }, session: broken.session };
    expect((await broken.gateway.exec(call)).ok).toBe(true);
    expect((await broken.gateway.exec(call)).ok).toBe(true);
    expect(heard).toEqual(["extraction-failed cms.resource.find: no matches"]);
    await broken.gateway.close();
    expect(heard.at(-1)).toMatch(/^extraction-idle 2 tool results received but 0 processed/);
  });
});

describe("after a compaction", () => {
  verifies("session:compaction", "get session:// restores everything", async () => {
    const { gateway, session } = await openPages();
    await gateway.ask({ query: "list pages", session });
    const read = await gateway.get(
      { routes: [{ route: "cms.page.list" }, { route: "cms.page.get", params: { id: "home" } }] },
      { session },
    );
    const list = read.results[0];
    const handle = list?.ok ? list.data.stored?.handle : "";
    await (await gateway.session(session)).update((memory) => ({ ...memory, summary: "The hero is wrong." }));
    const card = await gateway.get({ routes: [{ route: `session://${session}` }] });
    expect(card.summary.succeeded).toBe(1);
    for (const part of [
      'Summary: "The hero is wrong."',
      "cms://tools/page/get(id: string|int): Get a page by its id. (used 1x)",
      "cms://tools/page/history(): All changes of a page.",
      "Rules for pages: Search before you create. A slug is used once.",
      'page "Page home" (home)',
      `${handle} of "cms.page.list"`,
    ]) {
      expect(card.text).toContain(part);
    }
    expect(countTokens(card.text)).toBeLessThan(430);
    const implied = await gateway.get({ routes: [{ route: "session://current" }] }, { session });
    expect(implied.results[0]).toMatchObject({ data: { content: textOf(card) } });
    const none = await gateway.get({ routes: [{ route: "session://current" }] });
    expect(none.results[0]).toMatchObject({ error: { code: "UNKNOWN_HANDLE" } });
  });

  verifies(
    "session:compaction",
    "lines shrink before they are dropped, and dropped lines are counted",
    async () => {
      const tools = Array.from({ length: 100 }, (_, number) =>
        defineTool({
          name: `get_thing_${number}`,
          description: `Get the thing with the number ${number}, and some more that is said about it.`,
          inputSchema: z.object({ name: z.string(), depth: z.int().optional() }),
          execute: () => "thing",
        }),
      );
      const { gateway, session } = await openPages({
        domains: [defineDomain({ name: "things", description: "Things.", tools })],
      });
      const names = (await gateway.view()).entries.map(({ op }) => op);
      await (await gateway.session(session)).update((memory) => ({ ...memory, discoveredTools: names }));
      const route = `session://${session}`;
      for (const maxTokens of [50, 100, 400, 1_000, 4_000]) {
        const text = textOf(await gateway.get({ routes: [{ route, params: { maxTokens } }] }));
        expect(countTokens(text)).toBeLessThanOrEqual(maxTokens);
        const shown = text.split("\n").filter((line) => line.startsWith("- ")).length;
        expect(text.includes(`[left out: ${100 - shown};`)).toBe(shown < 100);
        const described = text.split("\n").filter((line) => line.includes("said about it")).length;
        expect(described === 0 || shown === 100).toBe(true);
      }
    },
  );

  verifies("session:compaction", "shows only entries that still exist and are visible", async () => {
    const { gateway, session } = await openPages();
    await gateway.exec({ op: "cms.page.get", args: { id: 1 }, session });
    await gateway.setDomains([defineDomain({ ...pages, requiredScopes: ["editor"] })]);
    const text = textOf(await gateway.get({ routes: [{ route: `session://${session}` }] }));
    expect(text).not.toContain("cms://");
    expect(text).not.toContain("Rules");
  });
});
