import { join } from "node:path";
import {
  BARE_ENTRY,
  createGateway,
  createMemorySessionStore,
  createSqliteSessionStore,
  defineDomain,
  defineTool,
  type Entity,
  type GatewayOptions,
  loadTokenCounter,
  onEvent,
  type Principal,
  type Source,
} from "keyhole";
import { describe, expect, onTestFinished } from "vitest";
import { z } from "zod";
import { verifies } from "./requirements.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const countTokens = await loadTokenCounter();
const ann: Principal = { id: "ann", scopes: [], allowWrite: true };
const bob: Principal = { id: "bob", scopes: [], allowWrite: true };

const pages = defineDomain({
  name: "cms",
  description: "Pages and images of a site.",
  rules: { pages: "Search before you create. A slug is used once." },
  entityExtractors: {
    find_resource: (result) => (result as { matches: Entity[] }).matches,
  },
  tools: [
    defineTool({
      name: "get_page",
      description: "Get a page by its id.",
      category: "pages",
      inputSchema: z.object({ id: z.union([z.string(), z.int()]) }),
      extraction: { path: "$root", type: "page", nameField: "name" },
      guidance: [{ route: "cms://tools/page/history", prose: "Who changed it" }],
      execute: ({ id }) => ({ id, name: `Page ${id}` }),
    }),
    defineTool({
      name: "list_pages",
      description: "List all pages.",
      category: "pages",
      extraction: { path: "data.pages", type: "page", nameField: "title", isArray: true },
      execute: () => ({
        data: { pages: Array.from({ length: 3_000 }, (_, id) => ({ id, title: `Title ${id}` })) },
      }),
    }),
    defineTool({
      name: "find_resource",
      description: "Find anything by name.",
      inputSchema: z.object({ matches: z.unknown() }),
      execute: ({ matches }) => ({ matches }),
    }),
    defineTool({
      name: "publish_page",
      description: "Publish a page.",
      category: "pages",
      execute: () => {
        throw new TypeError("nobody is logged in");
      },
    }),
    defineTool({
      route: "cms://tools/page/history",
      name: "Page history",
      description: "All changes of a page.",
      searchable: false,
      execute: () => "none",
    }),
  ],
});

function open(options: Partial<GatewayOptions> = {}) {
  const gateway = createGateway({ domains: [pages], principal: ann, ...options });
  onTestFinished(() => gateway.close());
  return { gateway, session: gateway.openSession() };
}

describe("a session", () => {
  verifies("session:memory", "remembers what was found, described, used and unveiled", async () => {
    const { gateway, session } = open();
    const memory = () => gateway.session(session).memory;
    expect(memory().discoveredTools).toEqual([]);
    const { hits } = await gateway.ask({ query: "list pages", limit: 1, session });
    expect(memory().discoveredTools).toEqual(hits.map(({ op }) => op));
    expect(memory().rules).toEqual(["cms/pages"]);
    await gateway.help({ path: "cms.page.publish", session });
    expect(memory().discoveredTools).toContain("cms.page.publish");
    await gateway.get({ routes: [{ route: "cms.page.get", params: { id: 1 } }], session });
    await gateway.exec({ op: "cms.page.get", args: { id: 2 }, session });
    await gateway.batch({ requests: [{ exec: { op: "cms.page.publish" } }], session });
    expect(memory().usedTools).toMatchObject([
      { name: "cms.page.get", count: 2, lastResult: "success" },
      { name: "cms.page.publish", count: 1, lastResult: "error" },
    ]);
    expect(memory().unveiled).toEqual(["cms://tools/page/history"]);
    expect(
      memory()
        .entities.map(({ id }) => id)
        .sort(),
    ).toEqual(["1", "2"]);
  });

  verifies("session:memory", "does not count what ran dry, or never ran, as used", async () => {
    const { gateway, session } = open();
    await gateway.exec({ op: "cms.page.get", args: { id: 1 }, dry_run: true, session });
    await gateway.exec({ op: "cms.page.get", args: { nothing: 1 }, session });
    expect(gateway.session(session).memory.usedTools).toEqual([]);
    expect(gateway.session(session).memory.entities).toEqual([]);
  });

  verifies("session:memory", "goes on after a restart", async () => {
    const path = join(temporaryFolder(), "state.db");
    const first = await createSqliteSessionStore(path);
    const before = createGateway({ domains: [pages], principal: ann, sessions: first });
    const { session = "" } = await before.ask({ query: "list pages", session: "new" });
    await before.exec({ op: "cms.page.get", args: { id: 7 }, session });
    await before.close();
    first.close();
    const second = await createSqliteSessionStore(path);
    const after = createGateway({ domains: [pages], principal: ann, sessions: second });
    expect(after.session(session).memory.entities.map(({ name }) => name)).toEqual(["Page 7"]);
    expect((await after.ask({ query: "list pages", session })).rules).toEqual([]);
    expect((await after.ledger({ session })).tokens.results).toBeGreaterThan(0);
    await after.close();
    second.close();
  });

  verifies("session:bounded", "keeps five things of a result and ten in all", async () => {
    const { gateway, session } = open();
    const found = await gateway.get({ routes: [{ route: "cms.page.list" }], session });
    expect(found.summary.success).toBe(1);
    expect(gateway.session(session).memory.entities).toHaveLength(5);
    const routes = Array.from({ length: 30 }, (_, id) => ({ route: "cms.page.get", params: { id } }));
    await gateway.get({ routes, session });
    expect(gateway.session(session).memory.entities).toHaveLength(10);
  });

  verifies("session:principal", "with two swapped handles gives neither what is the other's", async () => {
    const { gateway } = open();
    const handles = new Map([ann, bob].map((principal) => [principal, gateway.openSession({ principal })]));
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
      const tries = (handle: string) => [
        gateway.ask({ query: "page", session: handle }, options),
        gateway.exec({ op: "cms.page.get", args: { id: 9 } }, { ...options, session: handle }),
        gateway.ledger({ ...options, session: handle }),
        gateway.menu({ ...options, session: handle }),
        (async () => gateway.session(handle, options))(),
        gateway.get({ routes: [{ route: `session://${handle}` }] }, options).then(({ results }) => {
          throw results[0];
        }),
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
      expect(gateway.openSession({ principal, resume: session })).not.toBe(session);
    }
    expect(gateway.session(annHandle, { principal: ann }).memory.entities).toHaveLength(1);
  });

  verifies("session:nothing-lost", "counts every call of many at the same time", async () => {
    for (const sessions of [createMemorySessionStore(), await createSqliteSessionStore(":memory:")]) {
      const { gateway, session } = open({ sessions });
      await Promise.all(
        Array.from({ length: 200 }, (_, id) => gateway.exec({ op: "cms.page.get", args: { id }, session })),
      );
      expect(gateway.session(session).memory.usedTools).toMatchObject([{ name: "cms.page.get", count: 200 }]);
    }
  });

  verifies("session:nothing-lost", "that ends while a call runs does not fail the call", async () => {
    const { gateway, session } = open({ domains: [] });
    await gateway.replace([
      defineDomain({
        name: "self",
        description: "Ends its session.",
        tools: [
          defineTool({
            name: "end_it",
            op: "self.end",
            description: "Ends it.",
            execute: () => {
              gateway.session(session).end();
              return "done";
            },
          }),
        ],
      }),
    ]);
    const answer = await gateway.exec({ op: "self.end", session });
    expect(answer).toMatchObject({ ok: true, result: "done" });
    await expect(gateway.exec({ op: "self.end", session })).rejects.toMatchObject({ code: "UNKNOWN_HANDLE" });
  });
});

describe("extraction", () => {
  verifies("session:extraction", "takes the tool's own extractor, and never fails a call", async () => {
    const { gateway, session } = open();
    const heard: string[] = [];
    onTestFinished(
      onEvent((event) => event.type === "notice" && heard.push(`${event.notice} ${event.detail}`)),
    );
    const matches = [{ type: "Image", id: "i1", name: "Hero" }];
    await gateway.exec({ op: "cms.resource.find", args: { matches }, session });
    expect(gateway.session(session).memory.entities).toMatchObject(matches);
    const broken = open({
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
    expect((await broken.gateway.health()).extraction).toMatchObject({
      status: "degraded",
      results: 2,
      processed: 0,
      warnings: ["2 tool results received but 0 processed. Entity extraction may be broken."],
    });
    await broken.gateway.close();
    expect(heard.at(-1)).toMatch(/^extraction-idle 2 tool results received but 0 processed/);
    expect((await gateway.health()).extraction).toMatchObject({
      status: "ok",
      toolsWithExtraction: 2,
      customExtractors: 1,
    });
  });
});

describe("after a compaction", () => {
  verifies("session:compaction", "get session:// gives everything back", async () => {
    const { gateway, session } = open();
    await gateway.ask({ query: "list pages", session });
    const read = await gateway.get(
      { routes: [{ route: "cms.page.list" }, { route: "cms.page.get", params: { id: "home" } }] },
      { session },
    );
    const list = read.results[0];
    const handle = list?.success ? list.data.stored?.handle : "";
    gateway.session(session).update((memory) => ({ ...memory, summary: "The hero is wrong." }));
    const card = await gateway.get({ routes: [{ route: `session://${session}` }] });
    expect(card.summary.success).toBe(1);
    for (const part of [
      'Summary: "The hero is wrong."',
      "cms://tools/page/get(id: string|int): Get a page by its id. (used 1x)",
      "cms://tools/page/history(): All changes of a page.",
      "Rules for pages: Search before you create. A slug is used once.",
      'page "Page home" (id "home")',
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
    "lines shrink before they are dropped, and what is left out is counted",
    async () => {
      const tools = Array.from({ length: 100 }, (_, number) =>
        defineTool({
          name: `get_thing_${number}`,
          description: `Get the thing with the number ${number}, and some more that is said about it.`,
          inputSchema: z.object({ name: z.string(), depth: z.int().optional() }),
          execute: () => "thing",
        }),
      );
      const { gateway, session } = open({
        domains: [defineDomain({ name: "things", description: "Things.", tools })],
      });
      const names = (await gateway.view()).entries.map(({ op }) => op);
      gateway.session(session).update((memory) => ({ ...memory, discoveredTools: names }));
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

  verifies("session:compaction", "shows what is still there and in sight, no more", async () => {
    const { gateway, session } = open();
    await gateway.exec({ op: "cms.page.get", args: { id: 1 }, session });
    await gateway.replace([defineDomain({ ...pages, requiredScopes: ["editor"] })]);
    const text = textOf(await gateway.get({ routes: [{ route: `session://${session}` }] }));
    expect(text).not.toContain("cms://");
    expect(text).not.toContain("Rules");
  });
});

describe("the ledger", () => {
  verifies("session:ledger", "has every token by its cause, in a session and in all", async () => {
    const { gateway, session } = open();
    const other = gateway.openSession();
    const menu = await gateway.menu({ session });
    const found = await gateway.ask({ query: "list pages", session });
    const described = await gateway.help({ path: "cms.page.get", session });
    const read = await gateway.get({ routes: [{ route: "cms.page.get", params: { id: 1 } }], session });
    const batch = await gateway.batch({
      requests: [{ help: { path: "cms" } }, { exec: { op: "cms.page.get", args: { id: 1 } } }],
      session,
    });
    await gateway.ask({ query: "publish", session: other });
    const { tokens, total, everything } = await gateway.ledger({ session });
    const menuTokens = menu.reduce((sum, tool) => sum + countTokens(`${JSON.stringify(tool)}\n`), 0);
    const texts = [found, described, read, batch].map(({ text }) => countTokens(text));
    expect(total).toBe(menuTokens + texts.reduce((sum, count) => sum + count));
    expect(tokens.menu).toBe(menuTokens);
    expect(tokens.ask + tokens.rules).toBe(texts[0]);
    expect(tokens.rules).toBeGreaterThan(5);
    expect(tokens.help).toBeGreaterThan(texts[1]!);
    expect(tokens.help + tokens.results).toBe(texts[1]! + texts[2]! + texts[3]!);
    const all = await gateway.ledger();
    const others = await gateway.ledger({ session: other });
    expect(all.total).toBe(total + others.total);
    const native = await gateway.menu({ surface: "native" });
    expect(everything).toBe(native.reduce((sum, tool) => sum + countTokens(`${JSON.stringify(tool)}\n`), 0));
  });

  verifies("session:ledger", "tells skills from other results", async () => {
    const source: Source = {
      id: "skills",
      contents: async function* () {
        const domain = { name: "craft", description: "How things are done.", scopes: [], rules: [] };
        const skill = {
          ...BARE_ENTRY,
          kind: "skill" as const,
          domain: "craft",
          name: "Review",
          route: "craft://skills/review",
          description: "How to review a page.",
          load: async () => "Read it twice. ".repeat(20),
        };
        yield { domains: [domain], drafts: [skill] };
      },
    };
    const { gateway, session } = open({ sources: [source] });
    const skill = await gateway.get({ routes: [{ route: "craft://skills/review" }] }, { session });
    const page = await gateway.get({ routes: [{ route: "cms.page.get", params: { id: 1 } }] }, { session });
    const { tokens } = await gateway.ledger({ session });
    expect(tokens).toMatchObject({ skills: countTokens(skill.text), results: countTokens(page.text) });
    expect(gateway.session(session).memory.discoveredTools).toEqual([
      "craft://skills/review",
      "cms.page.get",
    ]);
  });

  verifies("session:ledger", "counts a refusal, and the same whether events are heard or not", async () => {
    const totals = [];
    for (const hear of [false, true]) {
      const { gateway, session } = open();
      const stop = hear ? onEvent(() => {}) : () => {};
      await gateway.ask({ query: "list pages", session: "new" });
      await expect(gateway.help({ path: "cms.pag", session })).rejects.toMatchObject({ code: "NOT_FOUND" });
      totals.push((await gateway.ledger({ session })).tokens);
      stop();
    }
    expect(totals[0]).toEqual(totals[1]);
    expect(totals[0]?.help).toBeGreaterThan(20);
  });

  verifies("session:budget", "makes answers fit what is left, then says how to go on", async () => {
    const { gateway, session } = open({ limits: { sessionTokens: 600 } });
    const list = () => gateway.get({ routes: [{ route: "cms.page.list" }], session });
    const first = (await list()).results[0];
    expect(first?.success && first.data.stored?.handle).toMatch(/^result:/);
    const used = (await gateway.ledger({ session })).total;
    expect(used).toBeLessThanOrEqual(600 + 100);
    while ((await gateway.ledger({ session })).total < 600) {
      const { text } = await gateway.ask({ query: "page", maxTokens: 700, session });
      expect(countTokens(text)).toBeLessThanOrEqual(600);
    }
    const refused = await list().catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "BUDGET_EXCEEDED" });
    const address = String((refused as { next: string }).next.match(/session:\/\/ses_[\w-]+/)?.[0]);
    const card = await gateway.get({ routes: [{ route: address }], session });
    expect(textOf(card)).toContain("cms://tools/page/list");
    const goesOn = await gateway.ask({ query: "page", session: "new" });
    expect(goesOn.hits.length).toBeGreaterThan(0);
  });
});

function textOf({ results }: { results: readonly { success: boolean }[] }): string {
  return String((results[0] as { data?: { content: unknown } }).data?.content);
}
