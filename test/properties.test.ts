import fc from "fast-check";
import { createGateway, type DomainDefinition, type Principal } from "keyhole";
import { expect } from "vitest";
import { loadTokenCounter } from "../src/base/tokens/tokens.ts";
import { verifies } from "./claims.ts";
import { randomDomains, randomPrincipal, randomQuery } from "./random-catalog.ts";

const countTokens = await loadTokenCounter();

/** The expected view, computed from the definitions without Keyhole. */
function expectedRoutes(domains: readonly DomainDefinition[], { scopes }: Principal) {
  const all = domains.flatMap((domain) =>
    (domain.tools ?? []).map((tool) => ({
      route: tool.route ?? "",
      hidden: tool.searchable === false,
      allowed: [...(domain.requiredScopes ?? []), ...(tool.requiredScopes ?? [])].every((scope) =>
        scopes.includes(scope),
      ),
    })),
  );
  return {
    denied: all.filter((tool) => !tool.allowed).map((tool) => tool.route),
    shown: all.filter((tool) => tool.allowed && !tool.hidden).map((tool) => tool.route),
    runnable: all.filter((tool) => tool.allowed).map((tool) => tool.route),
  };
}

verifies("access:equivalence", "for random catalogs, scopes and queries", async () => {
  await fc.assert(
    fc.asyncProperty(
      randomDomains,
      randomPrincipal,
      fc.array(randomQuery, { minLength: 1, maxLength: 3 }),
      async (domains, principal, queries) => {
        const gateway = createGateway({ domains, principal, ask: "never" });
        const { denied, shown, runnable } = expectedRoutes(domains, principal);

        const answers = await Promise.all(
          [...queries, ...denied.slice(0, 2)].map((query) =>
            gateway.ask({ query, limit: 50, maxTokens: 20_000 }),
          ),
        );
        for (const answer of answers) {
          const seen = answer.hits.map((hit) => hit.route);
          expect(shown).toEqual(expect.arrayContaining([...seen, ...answer.suggestions]));
        }

        const listed = new Set<string>();
        const root = await gateway.help({ path: "" });
        if (root.kind !== "directory") throw root;
        for (const group of root.groups) {
          const domain = await gateway.help({ path: group.path });
          if (domain.kind !== "directory") throw domain;
          for (const sub of domain.groups) {
            for (const name of sub.names)
              listed.add(`${sub.path}.${name}`.replace(".", "://tools/").replaceAll(".", "/"));
          }
        }
        expect([...listed].sort()).toEqual(shown.toSorted());

        for (const route of [...denied, ...runnable]) {
          const exec = await gateway.exec({ route, dryRun: false });
          const { results } = await gateway.get({ routes: [{ route }] });
          const described = await gateway.help({ path: route });
          const help = described.ok ? "ok" : described.error.code;
          const got = results[0]?.ok ? "ok" : results[0]?.error.code;
          if (runnable.includes(route)) {
            expect([exec.ok, help], route).toEqual([true, "ok"]);
            expect(["ok", "ACCESS_DENIED"]).toContain(got);
          } else {
            expect([exec.ok ? "ok" : exec.error.code, got, help], route).toEqual([
              "NOT_FOUND",
              "NOT_FOUND",
              "NOT_FOUND",
            ]);
            const nearest = exec.ok ? [] : (exec.error.details.nearest as string[]);
            for (const name of nearest)
              expect(
                shown.some((address) => sameEntry(address, name)),
                name,
              ).toBe(true);
          }
        }
      },
    ),
    { numRuns: 60 },
  );
});

function sameEntry(route: string, name: string): boolean {
  const op = route.replace("://tools/", ".").replaceAll("/", ".");
  return route === name || op === name || route.split("/").at(-2) === name;
}

verifies("ask:within-budget", "for random catalogs, queries and budgets", async () => {
  await fc.assert(
    fc.asyncProperty(
      randomDomains,
      randomQuery,
      fc.integer({ min: 64, max: 900 }),
      async (domains, query, maxTokens) => {
        const principal = { id: "someone", scopes: ["a", "b", "c"], allowWrite: false };
        const gateway = createGateway({ domains, principal });
        const rules = "Rule. ".repeat(maxTokens % 300);
        const ruled = createGateway({ domains: domains.map((domain) => ({ ...domain, rules })), principal });
        for (const asked of [gateway, ruled]) {
          const { text } = await asked.ask({
            queries: [query, "order"],
            maxTokens,
            limit: 50,
            session: "new",
          });
          expect(countTokens(text)).toBeLessThanOrEqual(maxTokens);
        }
      },
    ),
    { numRuns: 100 },
  );
});

verifies("menu:within-budget", "for random catalogs, and the same bytes after use", async () => {
  await fc.assert(
    fc.asyncProperty(
      randomDomains,
      randomPrincipal,
      fc.integer({ min: 1, max: 40 }),
      async (domains, principal, copies) => {
        const many = Array.from({ length: copies }, (_, copy) =>
          domains.map((domain, index) => ({
            ...domain,
            name: `${"name".repeat(copy % 9)}d${copy}x${index}`,
            tools: (domain.tools ?? []).map(({ route: _route, ...tool }, place) => ({
              ...tool,
              op: undefined,
              name: `${tool.name}_${place}`,
            })),
          })),
        ).flat();
        const gateway = createGateway({ domains: many as DomainDefinition[], principal });
        const before = JSON.stringify(await gateway.menu());
        expect(countTokens(before)).toBeLessThanOrEqual(900);
        await gateway.ask({ query: "order", session: "new" });
        expect(JSON.stringify(await gateway.menu())).toBe(before);
      },
    ),
    { numRuns: 40 },
  );
});

verifies("names:plain", "a plain name reaches exactly what the op of its only entry reaches", async () => {
  await fc.assert(
    fc.asyncProperty(randomDomains, randomPrincipal, async (domains, principal) => {
      const gateway = createGateway({ domains, principal, ask: "never" });
      const { shown } = expectedRoutes(domains, principal);
      const all = domains.flatMap((domain) => domain.tools ?? []);
      for (const name of new Set(all.map((tool) => tool.name))) {
        const having = all.filter((tool) => tool.name === name && shown.includes(tool.route ?? ""));
        const only = having.length === 1 ? having[0]?.route : undefined;
        const plain = await gateway.exec({ op: name, dryRun: false });
        const [got] = (await gateway.get({ routes: [{ route: name }] })).results;
        const help = await gateway.help({ path: name });
        if (only === undefined) {
          expect(plain).toMatchObject({ ok: false, error: { code: "NOT_FOUND" } });
          expect(got).toMatchObject({ ok: false, error: { code: "NOT_FOUND" } });
          expect(help).toMatchObject({ ok: false, error: { code: "NOT_FOUND" } });
          const listed = plain.ok ? [] : plain.error.details.nearest;
          const ops = having.map(({ route }) => route?.replace("://tools/", ".").replaceAll("/", "."));
          if (having.length > 1) expect(ops).toEqual(expect.arrayContaining(listed as string[]));
          continue;
        }
        const full = await gateway.exec({ route: only, dryRun: false });
        const byRoute = (await gateway.get({ routes: [{ route: only }] })).results[0];
        const code = (answer: typeof plain) => (answer.ok ? "ok" : answer.error.code);
        expect([plain.op, code(plain)]).toEqual([full.op, code(full)]);
        expect(got?.ok ? "ok" : got?.error.code).toBe(byRoute?.ok ? "ok" : byRoute?.error.code);
        expect(help).toEqual(await gateway.help({ path: only }));
      }
      await gateway.close();
    }),
    { numRuns: 60 },
  );
});
