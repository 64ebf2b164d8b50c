import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { analyzeQuery } from "../analysis/analyze-query.ts";
import type { SearchDocument, SearchFilter } from "../port/search-index.ts";
import type { Scored } from "../ranking/fusion.ts";
import { LexicalIndex } from "./lexical-index.ts";
import { facetTest } from "./live-segment.ts";
import { rankClauses } from "./rank-clauses.ts";

const WORDS = [
  "weather",
  "wether",
  "mail",
  "mails",
  "send",
  "get",
  "city",
  "cities",
  "file",
  "天气",
  "预报",
  "naïve",
  "list",
];
const word = fc.constantFrom(...WORDS);
const words = fc.array(word, { maxLength: 6 }).map((found) => found.join(" "));

const documentArbitrary: fc.Arbitrary<SearchDocument> = fc.record({
  id: fc.nat(30).map((number) => `d${number}`),
  kind: fc.constantFrom("tool", "skill"),
  domain: fc.constantFrom("one", "two"),
  visibility: fc.constantFrom("listed", "entry", "listed", "hidden"),
  scopes: fc.subarray(["s1", "s2"]),
  category: fc.constantFrom("c1", "c2"),
  tags: fc.subarray(["t1", "t2"]),
  name: fc.array(word, { minLength: 1, maxLength: 3 }).map((found) => found.join("_")),
  aliases: fc.array(words, { maxLength: 2 }),
  description: words,
  parameters: words,
  domainText: words,
  content: words,
  weights: fc.constantFrom({}, { name: 2 }, { content: 0, description: 3 }),
});

type Change =
  | { readonly put: readonly SearchDocument[] }
  | { readonly drop: readonly string[] }
  | { readonly merge: "all" | "some" | "half-way" };

const changes = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ put: fc.array(documentArbitrary, { minLength: 1, maxLength: 8 }) }) },
    {
      weight: 2,
      arbitrary: fc.record({
        drop: fc.array(
          fc.nat(30).map((number) => `d${number}`),
          { maxLength: 6 },
        ),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ merge: fc.constantFrom("all" as const, "some" as const, "half-way" as const) }),
    },
  ),
  { maxLength: 25 },
);

const query = fc.oneof(
  fc
    .array(fc.constantFrom(...WORDS, "weathr", "lis", "get_weather", "the", "12"), {
      minLength: 1,
      maxLength: 6,
    })
    .map((found) => found.join(" ")),
  fc.array(words, { minLength: 2, maxLength: 3 }).map((found) => found.join(". ")),
);

const filterArbitrary: fc.Arbitrary<SearchFilter> = fc.record(
  {
    scopes: fc.subarray(["s1", "s2", "s3"]),
    domain: fc.constantFrom("one", "two"),
    kinds: fc.subarray(["tool", "skill"] as const),
    categories: fc.subarray(["c1", "c2"]),
    tags: fc.subarray(["t1", "t2"]),
  },
  { requiredKeys: ["scopes"] },
);

const PLAIN: SearchDocument = {
  id: "",
  kind: "tool",
  domain: "one",
  visibility: "listed",
  scopes: [],
  tags: [],
  name: "",
  aliases: [],
  description: "",
  parameters: "",
  domainText: "",
  content: "",
};
const everything: SearchFilter = { scopes: ["s1", "s2"] };

function apply(list: readonly Change[]): { index: LexicalIndex; documents: Map<string, SearchDocument> } {
  const index = new LexicalIndex();
  const documents = new Map<string, SearchDocument>();
  let merging: Generator<void, void> | undefined;
  for (const change of list) {
    if ("put" in change) {
      for (const _ of index.put(change.put));
      for (const document of change.put) documents.set(document.id, document);
    } else if ("drop" in change) {
      index.drop(change.drop);
      for (const id of change.drop) documents.delete(id);
    } else if (change.merge === "half-way" && merging === undefined) {
      merging = index.merge(true);
      merging.next();
    } else {
      for (const _ of merging ?? index.merge(change.merge === "all"));
      merging = undefined;
    }
  }
  return { index, documents };
}

function built(documents: Iterable<SearchDocument>): LexicalIndex {
  const index = new LexicalIndex();
  for (const _ of index.put([...documents]));
  return index;
}

function find(index: LexicalIndex, text: string, filter: SearchFilter, limit: number): readonly Scored[] {
  return rankClauses(index, { words: text }, filter, limit).hits;
}

describe("lexical index", () => {
  test("a large put goes on in steps, and until its end documents are found as they were", () => {
    const index = new LexicalIndex();
    const put = (name: string) =>
      index.put(Array.from({ length: 600 }, (_, at) => ({ ...PLAIN, id: `d${at}`, name: `${name}_${at}` })));
    for (const _ of put("walrus"));
    const steps = put("penguin");
    expect(steps.next().done).toBe(false);
    expect(find(index, "walrus", everything, 1_000)).toHaveLength(600);
    expect(find(index, "penguin", everything, 1_000)).toHaveLength(0);
    for (const _ of steps);
    expect(find(index, "walrus", everything, 1_000)).toHaveLength(0);
    expect(find(index, "penguin", everything, 1_000)).toHaveLength(600);
  });

  test("any sequence of changes and merges equals a rebuild, ids and scores", () => {
    fc.assert(
      fc.property(changes, query, (list, text) => {
        const { index, documents } = apply(list);
        const rebuilt = built(documents.values());
        expect(index.size).toBe(rebuilt.size);
        expect(find(index, text, everything, 50)).toEqual(find(rebuilt, text, everything, 50));
      }),
      { numRuns: 300 },
    );
  });

  test("a burst of small puts merges in pieces, beside a merge in the background, and equals a rebuild", () => {
    const index = new LexicalIndex();
    const documents = new Map<string, SearchDocument>();
    let background = index.merge();
    for (let put = 0; put < 600; put++) {
      const id = `d${(put * 7) % 400}`;
      const document = { ...PLAIN, id, name: `walrus_${put}`, description: `number ${put % 10}` };
      for (const _ of index.put([document]));
      documents.set(id, document);
      if (put % 5 === 0) index.drop([`d${put % 400}`]);
      if (put % 5 === 0) documents.delete(`d${put % 400}`);
      if (put % 3 === 0 && background.next().done) background = index.merge();
      expect(index.segmentCount).toBeLessThan(64);
    }
    for (const _ of background);
    for (const _ of index.merge(true));
    expect(index.whole?.ids.size).toBe(documents.size);
    const rebuilt = built(documents.values());
    for (const text of ["walrus", "number 3", "walrus_77"])
      expect(find(index, text, everything, 50)).toEqual(find(rebuilt, text, everything, 50));
  });

  test("pruning loses nothing: a short list is the beginning of the full one", () => {
    const many = fc.array(documentArbitrary, { minLength: 20, maxLength: 31 });
    fc.assert(
      fc.property(many, query, fc.integer({ min: 1, max: 4 }), (documents, text, limit) => {
        const index = built(documents);
        const read = (most: number) => index.rank(analyzeQuery(text), everything, most).hits;
        expect(read(limit)).toEqual(read(1000).slice(0, limit));
      }),
      { numRuns: 300 },
    );
  });

  test("pruning loses nothing over many documents with long lists", () => {
    const documents = Array.from({ length: 3000 }, (_, number) => pseudoDocument(number));
    const index = built(documents);
    for (let number = 0; number < 200; number++) {
      const words = analyzeQuery(pseudoWords(number * 7919, 2 + (number % 6)));
      const all = index.rank(words, everything, 3000).hits;
      expect(index.rank(words, everything, 10).hits).toEqual(all.slice(0, 10));
    }
  });

  test("a filter finds what filtering afterwards would", () => {
    fc.assert(
      fc.property(changes, query, filterArbitrary, (list, text, filter) => {
        const { index, documents } = apply(list);
        const passes = facetTest(filter);
        const words = analyzeQuery(text);
        const ids = (chosen: SearchFilter) => index.rank(words, chosen, 100).hits.map(({ id }) => id);
        const expected = ids({ scopes: filter.scopes }).filter((id) => {
          const document = documents.get(id)!;
          return passes({ ...document, category: document.category ?? "" });
        });
        expect(ids(filter)).toEqual(expected);
      }),
      { numRuns: 300 },
    );
  });

  test("documents out of the caller's scopes change no hit, score or weight", () => {
    fc.assert(
      fc.property(changes, query, filterArbitrary, (list, text, filter) => {
        const { index, documents } = apply(list);
        const seen = [...documents.values()].filter(({ scopes }) =>
          scopes.every((scope) => filter.scopes.includes(scope)),
        );
        const words = analyzeQuery(text);
        const ranked = (chosen: LexicalIndex) => {
          const { hits, terms, sureName } = chosen.rank(words, filter, 100);
          return { hits, terms: terms.map((term) => [term.text, term.weight]), sureName };
        };
        expect(ranked(index)).toEqual(ranked(built(seen)));
      }),
      { numRuns: 300 },
    );
  });
});

/** Words with a few very common and many rare ones, the same for the same seed. */
function pseudoWords(seed: number, count: number): string {
  let state = (seed + 1) * 2654435761;
  return Array.from({ length: count }, () => {
    state = (Math.imul(state ^ (state >>> 15), 2246822519) + 3266489917) >>> 0;
    return `w${Math.floor((state / 2 ** 32) ** 3 * 400).toString(36)}x`;
  }).join(" ");
}

function pseudoDocument(number: number): SearchDocument {
  return {
    id: `d${number}`,
    kind: "tool",
    domain: "one",
    visibility: "listed",
    scopes: [],
    tags: [],
    name: pseudoWords(number, 2),
    aliases: [],
    description: pseudoWords(number * 31, 12),
    parameters: pseudoWords(number * 37, 8),
    domainText: "",
    content: "",
  };
}
