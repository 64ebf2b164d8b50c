import { describe, expect, test } from "vitest";
import { fuse, type Scored } from "./fusion.ts";

/** `a` first with 1, then falling by `step`. */
function list(ids: string, step: number): Scored[] {
  return Array.from(ids, (id, place) => ({ id, score: 1 - place * step }));
}

const ids = (hits: readonly Scored[]) => hits.map((hit) => hit.id).join("");

describe("fuse", () => {
  test("words decide where vectors find everything alike", () => {
    const { hits, confidence } = fuse(list("abcdefghij", 0.1), list("jihgfedcba", 0.001), false);
    expect(confidence).toBeGreaterThan(0.8);
    expect(ids(hits)).toBe("abcdefghij");
  });

  test("vectors lead where the words find everything alike", () => {
    const { hits, confidence } = fuse(list("abcdefghij", 0.001), list("jihgfedcba", 0.1), false);
    expect(confidence).toBeLessThan(0.3);
    expect(ids(hits).slice(0, 3)).toBe("jih");
  });

  test("between the marks what both like comes first", () => {
    const { hits, confidence } = fuse(list("abcdefghij", 0.05), list("kbcdefghil", 0.05), false);
    expect(confidence).toBeGreaterThan(0.3);
    expect(confidence).toBeLessThan(0.8);
    expect(hits[0]?.id).toBe("b");
  });

  test("an exact name stays first whatever the vectors say", () => {
    const { hits, confidence } = fuse(list("abcdefghij", 0.001), list("zyxwvutsrq", 0.1), true);
    expect(confidence).toBe(1);
    expect(hits[0]?.id).toBe("a");
  });

  test("one empty list leaves the other", () => {
    expect(ids(fuse([], list("xyz", 0.1), false).hits)).toBe("xyz");
    expect(ids(fuse(list("xyz", 0.1), [], false).hits)).toBe("xyz");
    expect(fuse([], [], false).hits).toEqual([]);
  });

  test("ties are listed by id", () => {
    expect(ids(fuse(list("cab", 0), [], false).hits)).toBe("abc");
  });
});
