import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { loadTokenCounter } from "../../../base/tokens/tokens.ts";
import type { CallContext, FindRequest } from "../../../core/nouns/entry.ts";
import { countPresent, toKeywords, toWordLine } from "../files/keywords.ts";
import { createMatcher, findMatches, type MatchParams } from "./matcher.ts";
import { type Fragment, renderFull } from "./render-match.ts";

const countTokens = await loadTokenCounter();

function fragment(id: string, facts: Partial<Fragment> = {}): Fragment {
  const route = `lib://resources/agents/${id}`;
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
    route,
    address: route,
    folder: "agents",
    body: `Text of ${id}`,
    ...facts,
  };
}

const byRoute = (fragments: readonly Fragment[]) => new Map(fragments.map((one) => [one.route, one]));

test("keywords are lower case, without stop words and single letters, each once", () => {
  expect(toKeywords("Build a TypeScript REST API with authentication, an API!")).toEqual([
    "build",
    "typescript",
    "rest",
    "api",
    "authentication",
  ]);
});

test("a keyword is present where it begins a word, whatever the ending", () => {
  const present = (keyword: string, text: string) => countPresent([keyword], toWordLine(text)) === 1;
  expect(present("retries", "When to retry a call")).toBe(true);
  expect(present("handler", "Error-handling")).toBe(true);
  expect(present("api", "APIs")).toBe(true);
  expect(present("act", "React")).toBe(false);
  expect(present("错误", "如何处理错误")).toBe(true);
});

describe("matches", () => {
  const all = [
    fragment("a", { tags: ["async", "types"] }),
    fragment("b", { tags: ["async"], category: "skill", folder: "skills" }),
    fragment("c", { tags: ["other"] }),
  ];
  /** A search that finds every fragment, each half as good as the one before. */
  const find: NonNullable<CallContext["find"]> = async () =>
    all.map(({ route }, at) => ({ route, score: 4 / 4 ** at }));
  const idsOf = async (wanted: object, search = find) =>
    (await findMatches("lib", byRoute(all), { query: "async", minScore: 0, ...wanted }, search)).map(
      (match) => `${match.fragment.id} ${match.score}`,
    );

  test("score by the share of keywords and the place among the hits", async () => {
    expect(await idsOf({})).toEqual(["a 100", "b 50"]);
    expect(await idsOf({ query: "async nothing" })).toEqual(["a 50", "b 25"]);
    expect(await idsOf({ query: "nothing" })).toEqual([]);
    expect(await idsOf({ query: "the" })).toEqual([]);
    expect(await idsOf({ minScore: 51 })).toEqual(["a 100"]);
  });

  test("required tags and other categories disqualify", async () => {
    expect(await idsOf({ tags: ["Types", "async"] })).toEqual(["a 100"]);
    expect(await idsOf({ tags: ["typ"] })).toEqual([]);
    expect(await idsOf({ categories: ["skills"] })).toEqual(["b 50"]);
    expect(await idsOf({ categories: ["Agent", "skill"] })).toEqual(["a 100", "b 50"]);
    expect(await idsOf({ categories: ["guides"] })).toEqual([]);
    expect(await idsOf({ folder: "agents", categories: ["skill"] })).toEqual([]);
  });

  test("the search is narrowed as the caller wants it", async () => {
    const asked: FindRequest[] = [];
    await idsOf({ tags: ["Types"], categories: ["skills"] }, async (request) => {
      asked.push(request);
      return [];
    });
    expect(asked).toEqual([
      expect.objectContaining({ domain: "lib", kinds: ["resource"], tags: ["types"], categories: ["skill"] }),
    ]);
  });
});

test("texts: the best three, then within the budget, until four fifths are used", () => {
  const words = fc.integer({ min: 1, max: 300 });
  fc.assert(
    fc.property(fc.array(words, { maxLength: 12 }), fc.integer({ min: 1, max: 2_000 }), (sizes, budget) => {
      const matches = sizes.map((size, at) => ({
        fragment: fragment(`f${at}`, { body: "word ".repeat(size) }),
        score: 100 - at,
      }));
      const text = renderFull(matches, budget, countTokens);
      const shown = matches.filter((match) => text.includes(`## Agent: ${match.fragment.id}\n`));
      expect(shown.slice(0, 3)).toEqual(matches.slice(0, 3));
      if (shown.length > 3) expect(countTokens(text)).toBeLessThanOrEqual(budget);
    }),
    { numRuns: 50 },
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
  const library = Array.from({ length: 30 }, (_, at) =>
    fragment(`event-driven-best-practices-number-${at}`, {
      tags: ["typescript", `t${at}`],
      capabilities: ["Async error handling of whatever kind there is", "Composition of promises"],
      useWhen: [
        `Building async TypeScript applications of a rather large size, number ${at}`,
        "Need patterns",
      ],
      estimatedTokens: 700 + at,
      body: `Body ${at} ${"text ".repeat(600)}`,
      scopes: at % 2 === 0 ? [] : ["inner"],
    }),
  );

  /** A call whose search sees what the scopes allow, as the gateway's does. */
  function call(fragments: readonly Fragment[], ...scopes: string[]) {
    const shownUpTo: number[] = [];
    const visible = fragments.filter((one) => one.scopes.every((scope) => scopes.includes(scope)));
    const context = {
      principal: { id: "p", scopes, allowWrite: false },
      find: async () => visible.map(({ route }) => ({ route, score: 1 })),
      showUpTo: (tokens: number) => shownUpTo.push(tokens),
    } as unknown as CallContext;
    return { context, shownUpTo };
  }

  function create(fragments = library) {
    const statistics = { quick: 0, searched: 0 };
    const matcher = createMatcher("lib", byRoute(fragments), statistics);
    return {
      statistics,
      match: (given: Partial<MatchParams>, ...scopes: string[]) =>
        matcher(params(given), call(fragments, ...scopes).context),
      matcher,
    };
  }

  test("answers within 120 tokens in mode index for any library", async () => {
    const word = fc.string({ minLength: 1, maxLength: 200 });
    await fc.assert(
      fc.asyncProperty(fc.array(word, { minLength: 1, maxLength: 8 }), async (useWhen) => {
        const odd = Array.from({ length: 8 }, (_, at) => fragment(`f${at}`, { tags: ["async"], useWhen }));
        const text = await create(odd).match({ mode: "index", query: "async" });
        expect(countTokens(text)).toBeLessThanOrEqual(120);
        expect(text).toContain("lib://resources/agents/f0 ");
      }),
      { numRuns: 50 },
    );
    const text = await create().match({ mode: "index" });
    expect(countTokens(text)).toBeLessThanOrEqual(120);
    expect(countTokens(text)).toBeGreaterThanOrEqual(50);
  });

  test("names the use that fits the query best", async () => {
    const one = fragment("one", { useWhen: ["Writing tests", "Rotating secrets"] });
    expect(await create([one]).match({ mode: "index", query: "rotate a secret" })).toContain(
      "): Rotating secrets",
    );
  });

  test("shows what each is for in mode catalog, within its budget", async () => {
    const { match } = create();
    const text = await match({}, "inner");
    expect(text).toContain("30 matched resources, 15 shown");
    expect(text).toContain(
      `**Total Tokens Available:** ${library.reduce((sum, one) => sum + one.estimatedTokens, 0)}`,
    );
    expect(countTokens(text)).toBeLessThanOrEqual(3_000);
    const index = await match({ mode: "index" }, "inner");
    expect(countTokens(index)).toBeLessThan(countTokens(text) * 0.15);
    for (const maxTokens of [200, 500, 1_000]) {
      const small = await match({ maxTokens });
      expect(countTokens(small)).toBeLessThanOrEqual(Math.max(maxTokens, 200));
    }
    expect(await match({ maxResults: 2 })).toContain("15 matched resources, 2 shown");
  });

  test("gives at least three texts in mode full, and no more than fit", async () => {
    const { match } = create();
    const bodies = (text: string) => text.match(/^Body \d+/gm) ?? [];
    expect(bodies(await match({ mode: "full", maxTokens: 10 }))).toHaveLength(3);
    expect(bodies(await match({ mode: "full" }))).toHaveLength(4);
  });

  test("asks for the room that its caller named", async () => {
    const { matcher } = create();
    const { context, shownUpTo } = call(library);
    for (let count = 0; count < 2; count++)
      await matcher(params({ mode: "full", maxTokens: 12_000 }), context);
    await matcher(params({ mode: "index" }), context);
    expect(shownUpTo).toEqual([12_000, 12_000]);
  });

  test("never keeps an answer of one principal for another", async () => {
    const { match } = create();
    for (const mode of ["index", "catalog", "full"] as const) {
      for (const scopes of [["inner"], [], ["other"], ["inner"], []]) {
        const text = await match({ mode, maxResults: 100, maxTokens: 100_000 }, ...scopes);
        const isInner = scopes.includes("inner");
        if (mode !== "full")
          expect(text).toContain(`${mode === "index" ? "of" : ":**"} ${isInner ? 30 : 15}`);
        if (mode !== "index")
          expect(text.includes("Agent: event-driven-best-practices-number-1\n")).toBe(isInner);
      }
    }
  });

  test("answers the same question from the quick lookup", async () => {
    const { match, statistics } = create();
    const lookUp = (query: string) => match({ mode: "index", query });
    const first = await lookUp("async applications");
    expect(await lookUp("the ASYNC applications")).toBe(first);
    expect(await lookUp("nothing like it")).toContain("No fragment matches");
    expect(statistics).toEqual({ quick: 1, searched: 2 });
  });

  test("names of object properties are ordinary words", async () => {
    const odd = [fragment("a", { useWhen: ["constructor __proto__ hasOwnProperty"], estimatedTokens: 1 })];
    const { match } = create(odd);
    expect(await match({ mode: "index", query: "constructor proto" })).toContain("lib://");
    expect(await match({ mode: "index", query: "toString valueOf" })).toContain("No fragment");
  });
});
