import { loadTokenCounter, onEvent, type Source } from "keyhole";
import { describe, expect } from "vitest";
import { BARE_ENTRY } from "../src/core/nouns/bare-entry.ts";
import { verifies } from "./claims.ts";
import { openPages, textOf } from "./pages.ts";

const countTokens = await loadTokenCounter();

describe("the ledger", () => {
  verifies("session:ledger", "counts every token by cause, per session and in total", async () => {
    const { gateway, session } = await openPages();
    const other = await gateway.openSession();
    const menu = await gateway.menu({ session });
    const found = await gateway.ask({ query: "list pages", session });
    const described = await gateway.help({ path: "cms.page.get", session });
    const read = await gateway.get({ routes: [{ route: "cms.page.get", params: { id: 1 } }], session });
    const batch = await gateway.batch({
      requests: [{ help: { path: "cms" } }, { exec: { op: "cms.page.get", args: { id: 1 } } }],
      session,
    });
    await gateway.ask({ query: "publish", session: other });
    const { tokens, total, everything } = (await gateway.report({ session })).ledger;
    const menuTokens = menu.reduce((sum, tool) => sum + countTokens(`${JSON.stringify(tool)}\n`), 0);
    const texts = [found, described, read, batch].map(({ text }) => countTokens(text));
    expect(total).toBe(menuTokens + texts.reduce((sum, count) => sum + count));
    expect(tokens.menu).toBe(menuTokens);
    expect(tokens.ask + tokens.rules).toBe(texts[0]);
    expect(tokens.rules).toBeGreaterThan(5);
    expect(tokens.help).toBeGreaterThan(texts[1]!);
    expect(tokens.help + tokens.results).toBe(texts[1]! + texts[2]! + texts[3]!);
    const all = (await gateway.report()).ledger;
    const others = (await gateway.report({ session: other })).ledger;
    expect(all.total).toBe(total + others.total);
    const native = await gateway.menu({ surface: "native" });
    expect(everything).toBe(native.reduce((sum, tool) => sum + countTokens(`${JSON.stringify(tool)}\n`), 0));
  });

  verifies("session:ledger", "counts skills apart from other results", async () => {
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
    const { gateway, session } = await openPages({ sources: [source] });
    const skill = await gateway.get({ routes: [{ route: "craft://skills/review" }] }, { session });
    const page = await gateway.get({ routes: [{ route: "cms.page.get", params: { id: 1 } }] }, { session });
    const { tokens } = (await gateway.report({ session })).ledger;
    expect(tokens).toMatchObject({ skills: countTokens(skill.text), results: countTokens(page.text) });
    expect((await gateway.session(session)).memory.discoveredTools).toEqual([
      "craft://skills/review",
      "cms.page.get",
    ]);
  });

  verifies("session:ledger", "counts refusals, with and without event listeners", async () => {
    const totals = [];
    for (const hear of [false, true]) {
      const { gateway, session } = await openPages();
      const stop = hear ? onEvent(() => {}) : () => {};
      await gateway.ask({ query: "list pages", session: "new" });
      expect(await gateway.help({ path: "cms.pag", session })).toMatchObject({
        ok: false,
        error: { code: "NOT_FOUND" },
      });
      totals.push((await gateway.report({ session })).ledger.tokens);
      stop();
    }
    expect(totals[0]).toEqual(totals[1]);
    expect(totals[0]?.help).toBeGreaterThan(20);
  });

  verifies("session:budget", "shrinks answers to the remaining tokens, then says how to go on", async () => {
    const { gateway, session } = await openPages({ limits: { sessionTokens: 600 } });
    const list = () => gateway.get({ routes: [{ route: "cms.page.list" }], session });
    const first = (await list()).results[0];
    expect(first?.ok && first.data.stored?.handle).toMatch(/^result:/);
    const used = (await gateway.report({ session })).ledger.total;
    expect(used).toBeLessThanOrEqual(600 + 100);
    while ((await gateway.report({ session })).ledger.total < 600) {
      const { text } = await gateway.ask({ query: "page", maxTokens: 700, session });
      expect(countTokens(text)).toBeLessThanOrEqual(600);
    }
    const refused = await list();
    expect(refused).toMatchObject({ ok: false, error: { code: "BUDGET_EXCEEDED" } });
    const address = String(refused.text.match(/session:\/\/ses_[\w-]+/)?.[0]);
    const card = await gateway.get({ routes: [{ route: address }], session });
    expect(textOf(card)).toContain("cms://tools/page/list");
    const goesOn = await gateway.ask({ query: "page", session: "new" });
    expect(goesOn.hits.length).toBeGreaterThan(0);
  });
});
