import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { boundedDistance, nearest } from "./nearest.ts";

describe("nearest", () => {
  test("forgives typos, swapped letters, separators and humps", () => {
    expect(nearest("titel", ["title", "priority", "dueAt"])).toEqual(["title"]);
    expect(nearest("due_at", ["title", "dueAt"])).toEqual(["dueAt"]);
    expect(nearest("github.isue.create", ["github.issue.create", "jira.page.list"])).toEqual([
      "github.issue.create",
    ]);
  });

  test("finds the same words in another order, and parts of a name", () => {
    expect(nearest("create_issue", ["github.issue.create", "issue.delete"])).toEqual(["github.issue.create"]);
    expect(nearest("taskList", ["list-tasks", "listing"])[0]).toBe("list-tasks");
    expect(nearest("id", ["user_id", "title"])).toEqual(["user_id"]);
    expect(nearest("desc", ["description", "code"])).toEqual(["description"]);
  });

  test("puts the best first and breaks ties by alphabet", () => {
    expect(nearest("color", ["colors", "colour", "color"])).toEqual(["color", "colors", "colour"]);
    expect(nearest("abcd", ["abce", "abcf", "abca"], 2)).toEqual(["abca", "abce"]);
  });

  test("suggests nothing rather than nonsense", () => {
    expect(nearest("weather", ["title", "user_id", "list_tasks"])).toEqual([]);
    expect(nearest("to", ["from", "cc"])).toEqual([]);
    expect(nearest("", ["a"])).toEqual([]);
    expect(nearest("x", ["x"], 0)).toEqual([]);
  });

  test("answers quickly among 5,000 names", () => {
    const names = Array.from({ length: 5000 }, (_, index) => `domain${index % 40}.entity_${index}.listAll`);
    expect(nearest("domain1.entity_4001.lstAll", names)[0]).toBe("domain1.entity_4001.listAll");
  });

  test("never throws, and returns only candidates, in the same order each time", () => {
    const names = fc.array(fc.oneof(fc.string(), fc.string({ unit: "binary" }), fc.constant("__proto__")));
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), names, fc.nat(6), (name, candidates, limit) => {
        const found = nearest(name, candidates, limit);
        expect(found.length).toBeLessThanOrEqual(limit);
        for (const each of found) expect(candidates).toContain(each);
        expect(nearest(name, candidates.toReversed(), limit)).toEqual(found);
      }),
    );
  });
});

test("boundedDistance agrees with the whole table of edits", () => {
  const word = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 8 });
  fc.assert(
    fc.property(word, word, fc.integer({ min: 1, max: 4 }), (a, b, limit) => {
      const distance = wholeDistance(a, b);
      expect(boundedDistance(a, b, limit)).toBe(distance <= limit ? distance : undefined);
    }),
  );
});

function wholeDistance(a: string, b: string): number {
  const at = (i: number, j: number): number => {
    if (i === 0 || j === 0) return i + j;
    const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
    return Math.min(
      table(i - 1, j) + 1,
      table(i, j - 1) + 1,
      table(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1),
      swapped ? table(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY,
    );
  };
  const known = new Map<string, number>();
  const table = (i: number, j: number): number => {
    const key = `${i},${j}`;
    const value = known.get(key) ?? at(i, j);
    known.set(key, value);
    return value;
  };
  return table(a.length, b.length);
}
