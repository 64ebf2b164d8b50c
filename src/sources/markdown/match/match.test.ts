import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { loadTokenCounter } from "../../../util/tokens.ts";
import type { Fragment } from "./fragment.ts";
import { toKeywords } from "./keywords.ts";
import type { MatchParams } from "./match-params.ts";
import { createMatcher } from "./matcher.ts";
import { buildScenarioIndex } from "./scenario-index.ts";
import { matchFragments, scoreFragment } from "./score-fragment.ts";
import { selectWithinBudget } from "./select-within-budget.ts";

const countTokens = await loadTokenCounter();

function fragment(id: string, facts: Partial<Fragment> = {}): Fragment {
  return {
    id,
    title: id,
    description: `About ${id}`,
    category: "agent",
    tags: [],
    capabilities: [],
    useWhen: [],
    estimatedTokens: 2_000,
    scopes: [],
    references: [],
    route: `lib://resources/agents/${id}`,
    path: `fragments/agents/${id}.md`,
    body: `Text of ${id}`,
    ...facts,
  };
}

test("keywords are lower case, without stop words and single letters, each once", () => {
  expect(toKeywords("Build a TypeScript REST API with authentication, an API!")).toEqual([
    "build",
    "typescript",
    "rest",
    "api",
    "authentication",
  ]);
});

describe("the score", () => {
  const keywords = ["async", "error"];
  test.each([
    ["nothing", {}, {}, 0],
    ["each keyword in a tag", { tags: ["async-io", "errors"] }, {}, 20],
    ["a keyword in two tags counts once", { tags: ["async", "async-io"] }, {}, 10],
    ["a capability", { capabilities: ["Async error handling"] }, {}, 16],
    ["useWhen", { useWhen: ["Need ERROR handling"] }, {}, 5],
    ["small", { estimatedTokens: 999 }, {}, 5],
    ["not small", { estimatedTokens: 1_000 }, {}, 0],
    ["the category", {}, { categories: ["agents"] }, 15],
    [
      "all of it",
      { tags: ["async"], capabilities: ["async"], useWhen: ["async"], estimatedTokens: 1 },
      { categories: ["agent"] },
      43,
    ],
  ])("of %s", (_, facts, wanted, score) => {
    expect(scoreFragment(fragment("x", facts), keywords, wanted)).toBe(score);
  });

  test("required tags and other categories disqualify, also where any score will do", () => {
    const all = [fragment("a", { tags: ["async", "types"] }), fragment("b", { tags: ["async"] })];
    const ids = (wanted: object) =>
      matchFragments(all, ["async"], { minScore: 0, ...wanted }).map((match) => match.fragment.id);
    expect(ids({})).toEqual(["a", "b"]);
    expect(ids({ tags: ["types"] })).toEqual(["a"]);
    expect(ids({ tags: ["Types", "async"] })).toEqual(["a"]);
    expect(ids({ tags: ["typ"] })).toEqual([]);
    expect(ids({ categories: ["skills"] })).toEqual([]);
    expect(ids({ minScore: 11 })).toEqual([]);
  });
});

test("selection: the best three, then within the budget, until four fifths are used", () => {
  const cost = fc.integer({ min: 1, max: 2_000 });
  fc.assert(
    fc.property(fc.array(cost, { maxLength: 30 }), fc.integer({ min: 1, max: 6_000 }), (costs, budget) => {
      const matches = costs.map((estimatedTokens, at) => ({
        fragment: fragment(`f${at}`, { estimatedTokens }),
        score: 100 - at,
      }));
      const selected = selectWithinBudget(matches, budget);
      const tokens = (list: typeof matches) =>
        list.reduce((sum, match) => sum + match.fragment.estimatedTokens, 0);
      expect(selected.slice(0, 3)).toEqual(matches.slice(0, 3));
      expect(tokens(selected)).toBeLessThanOrEqual(Math.max(budget, tokens(matches.slice(0, 3))));
      expect(selected).toEqual(matches.filter((match) => selected.includes(match)));
      // Every one but the last was added while there was room for more.
      if (selected.length > 4) expect(tokens(selected.slice(0, -1))).toBeLessThanOrEqual(budget * 0.8);
      // What was passed over did not fit, or came when there was enough.
      for (const [at, match] of matches.entries()) {
        if (selected.includes(match)) continue;
        const used = tokens(selected.filter((one) => matches.indexOf(one) < at));
        const enough = at > 3 && used > budget * 0.8;
        expect(enough || used + match.fragment.estimatedTokens > budget).toBe(true);
      }
    }),
  );
});

describe("a matcher", () => {
  const params = (given: Partial<MatchParams>): MatchParams => ({
    query: "typescript async error",
    mode: "catalog",
    maxTokens: 3_000,
    maxResults: 15,
    minScore: 10,
    ...given,
  });
  const principal = (...scopes: string[]) => ({ id: "p", scopes, allowWrite: false });
  const library = Array.from({ length: 30 }, (_, at) =>
    fragment(`event-driven-best-practices-number-${at}`, {
      tags: ["typescript", `t${at}`],
      capabilities: ["Async error handling of whatever kind there is", "Composition of promises"],
      useWhen: [
        `Building async TypeScript applications of a rather large size, number ${at}`,
        "Need patterns",
      ],
      estimatedTokens: 700 + at,
      body: `Body ${at}`,
      scopes: at % 2 === 0 ? [] : ["inner"],
    }),
  );
  function create(fragments = library) {
    const statistics = { quick: 0, keywords: 0, full: 0 };
    let loads = 0;
    const files = fragments.map((one) => ({
      kind: "fragment" as const,
      path: one.path,
      stamp: "",
      hash: "",
      body: one.body,
      facts: one,
    }));
    const load = async () => {
      loads += 1;
      return buildScenarioIndex(files);
    };
    return { matcher: createMatcher(fragments, load, statistics), statistics, loads: () => loads };
  }

  test("answers within 120 tokens in index mode, whatever the library is like", async () => {
    const word = fc.string({ minLength: 1, maxLength: 200 });
    await fc.assert(
      fc.asyncProperty(fc.array(word, { minLength: 1, maxLength: 8 }), async (useWhen) => {
        const odd = Array.from({ length: 8 }, (_, at) => fragment(`f${at}`, { tags: ["async"], useWhen }));
        const text = await create(odd).matcher.match(params({ mode: "index", query: "async" }), principal());
        expect(countTokens(text)).toBeLessThanOrEqual(120);
        expect(text).toContain("lib://resources/agents/f0 ");
      }),
      { numRuns: 50 },
    );
    const text = await create().matcher.match(params({ mode: "index" }), principal());
    expect(countTokens(text)).toBeLessThanOrEqual(120);
    expect(countTokens(text)).toBeGreaterThanOrEqual(50);
  });

  test("shows what each is for in catalog mode, within its budget", async () => {
    const { matcher } = create();
    const text = await matcher.match(params({}), principal("inner"));
    expect(text).toContain("30 matched resources, 15 shown");
    expect(text).toContain(
      `**Total Tokens Available:** ${library.reduce((sum, one) => sum + one.estimatedTokens, 0)}`,
    );
    expect(countTokens(text)).toBeLessThanOrEqual(3_000);
    const index = await matcher.match(params({ mode: "index" }), principal("inner"));
    expect(countTokens(index)).toBeLessThan(countTokens(text) * 0.15);
    for (const maxTokens of [200, 500, 1_000]) {
      const small = await matcher.match(params({ maxTokens }), principal());
      expect(countTokens(small)).toBeLessThanOrEqual(Math.max(maxTokens, 200));
    }
    expect(await matcher.match(params({ maxResults: 2 }), principal())).toContain(
      "15 matched resources, 2 shown",
    );
  });

  test("gives the texts in full mode: three at least, and no more than fit", async () => {
    const { matcher } = create();
    const bodies = (text: string) => text.match(/^Body \d+$/gm) ?? [];
    expect(bodies(await matcher.match(params({ mode: "full", maxTokens: 10 }), principal()))).toHaveLength(3);
    expect(bodies(await matcher.match(params({ mode: "full" }), principal()))).toHaveLength(4);
  });

  test("never tells of what a principal may not see, nor keeps an answer for another", async () => {
    const { matcher } = create();
    const visible = library.filter(({ scopes }) => scopes.length === 0);
    for (const mode of ["index", "catalog", "full"] as const) {
      for (const scopes of [["inner"], [], ["other"], ["inner"], []]) {
        const text = await matcher.match(
          params({ mode, maxResults: 100, maxTokens: 100_000 }),
          principal(...scopes),
        );
        const seen = scopes.includes("inner") ? library : visible;
        if (mode !== "full") expect(text).toContain(`${mode === "index" ? "of" : ":**"} ${seen.length}`);
        for (const { id } of library.filter((one) => !seen.includes(one))) {
          expect(text.split(/[\s:]/)).not.toContain(id);
          expect(text).not.toContain(`${id} `);
        }
      }
    }
    const tagged = await matcher.match(params({ tags: ["t1"] }), principal());
    expect(tagged).toBe(await matcher.match(params({ tags: ["t-none"] }), principal()));
  });

  test("looks up in three tiers, and loads its index once", async () => {
    const { matcher, statistics, loads } = create();
    const lookUp = (query: string) => matcher.match(params({ mode: "index", query }), principal());
    const [first, same] = await Promise.all([lookUp("async applications"), lookUp("patterns")]);
    expect(statistics).toEqual({ quick: 0, keywords: 2, full: 0 });
    expect(await lookUp("the ASYNC applications")).toBe(first);
    expect(await lookUp("patterns!")).toBe(same);
    expect(statistics).toEqual({ quick: 2, keywords: 2, full: 0 });
    expect(await lookUp("typescr")).toContain("lib://");
    expect(await lookUp("nothing like it")).toContain("No fragment matches");
    expect(statistics).toEqual({ quick: 2, keywords: 2, full: 2 });
    expect(loads()).toBe(1);
  });

  test("hostile words are words", async () => {
    const odd = [fragment("a", { useWhen: ["constructor __proto__ hasOwnProperty"], estimatedTokens: 1 })];
    const { matcher } = create(odd);
    expect(await matcher.match(params({ mode: "index", query: "constructor proto" }), principal())).toContain(
      "lib://",
    );
    expect(await matcher.match(params({ mode: "index", query: "toString valueOf" }), principal())).toContain(
      "No fragment",
    );
  });
});
