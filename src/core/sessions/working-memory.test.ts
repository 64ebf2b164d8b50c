import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Entity } from "../nouns/entry.ts";
import {
  bounded,
  deliverRules,
  discover,
  EMPTY_MEMORY,
  keepResult,
  MOST_ENTITIES,
  MOST_NAMES,
  MOST_RESULTS,
  meet,
  unveil,
  use,
  type WorkingMemory,
} from "./working-memory.ts";

const NONE = { scopes: [], routes: [] };
const entity: fc.Arbitrary<Entity> = fc.record({
  type: fc.constantFrom("page", "image", "__proto__"),
  id: fc.constantFrom("1", "2", "3", "4", "5", "constructor", "toString"),
  name: fc.string({ minLength: 1 }),
  timestamp: fc.integer({ min: 0, max: 50 }).map((ms) => new Date(ms)),
});
const keyOf = ({ type, id }: Entity) => `${type}/${id}`;

describe("entities", () => {
  test("keep the newest of each type and id, ten at most, newest first", () => {
    fc.assert(
      fc.property(fc.array(fc.array(entity, { maxLength: 5 }), { maxLength: 30 }), (results) => {
        const { entities } = results.reduce(meet, EMPTY_MEMORY);
        expect(entities.length).toBeLessThanOrEqual(MOST_ENTITIES);
        expect(new Set(entities.map(keyOf)).size).toBe(entities.length);
        const times = entities.map(({ timestamp }) => +timestamp);
        expect(times).toEqual(times.toSorted((left, right) => right - left));
      }),
    );
  });

  test("within the window are all there, each in its latest state", () => {
    fc.assert(
      fc.property(fc.array(entity, { maxLength: 60 }), (met) => {
        const inOrder = met.map((one, index) => ({ ...one, timestamp: new Date(index) }));
        const { entities } = inOrder.reduce((memory, one) => meet(memory, [one]), EMPTY_MEMORY);
        const last = new Map(inOrder.map((one) => [keyOf(one), one]));
        const expected = [...last.values()]
          .toSorted((left, right) => +right.timestamp - +left.timestamp)
          .slice(0, MOST_ENTITIES);
        expect(entities).toEqual(expected);
      }),
    );
  });

  test("of the same moment count by order of arrival", () => {
    const at = new Date(5);
    const first = meet(EMPTY_MEMORY, [{ type: "page", id: "1", name: "old", timestamp: at }]);
    const { entities } = meet(first, [{ type: "page", id: "1", name: "new", timestamp: at }]);
    expect(entities.map(({ name }) => name)).toEqual(["new"]);
  });
});

describe("changes", () => {
  const change: fc.Arbitrary<(memory: WorkingMemory) => WorkingMemory> = fc.oneof(
    fc.array(fc.string()).map((names) => (memory: WorkingMemory) => discover(memory, names)),
    fc.array(fc.string()).map((ids) => (memory: WorkingMemory) => deliverRules(memory, ids)),
    fc.array(fc.string()).map((routes) => (memory: WorkingMemory) => unveil(memory, routes)),
    fc
      .string()
      .map((handle) => (memory: WorkingMemory) => keepResult(memory, { handle, name: "a", needs: NONE })),
    fc
      .string()
      .map((name) => (memory: WorkingMemory) => use(memory, { name, result: "success", at: new Date(0) })),
    fc.array(entity).map((entities) => (memory: WorkingMemory) => meet(memory, entities)),
  );

  test("do not modify the old memory, and keep the new one distinct and within bounds", () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
        let memory = EMPTY_MEMORY;
        for (const apply of changes) {
          const before = JSON.stringify(memory);
          const next = apply(memory);
          expect(JSON.stringify(memory)).toBe(before);
          memory = next;
        }
        expect(bounded(memory)).toEqual(memory);
        expect(new Set(memory.discoveredTools).size).toBe(memory.discoveredTools.length);
        expect(new Set(memory.usedTools.map(({ name }) => name)).size).toBe(memory.usedTools.length);
      }),
    );
  });

  test("beyond a bound keep the newest", () => {
    const names = Array.from({ length: MOST_NAMES * 3 }, (_, index) => `tool.${index}`);
    const memory = names.reduce((known, name) => discover(known, [name]), EMPTY_MEMORY);
    expect(memory.discoveredTools).toEqual(names.slice(-MOST_NAMES));
    const results = names.reduce(
      (known, handle) => keepResult(known, { handle, name: "a", needs: NONE }),
      EMPTY_MEMORY,
    );
    expect(results.results.map(({ handle }) => handle)).toEqual(names.slice(-MOST_RESULTS));
  });

  test("of use count calls and keep the last outcome", () => {
    const once = use(EMPTY_MEMORY, { name: "a", result: "success", at: new Date(0) });
    const other = use(once, { name: "b", result: "success", at: new Date(1) });
    const twice = use(other, { name: "a", result: "error", at: new Date(2) });
    expect(twice.usedTools).toEqual([
      { name: "b", count: 1, lastUsed: "1970-01-01T00:00:00.001Z", lastResult: "success" },
      { name: "a", count: 2, lastUsed: "1970-01-01T00:00:00.002Z", lastResult: "error" },
    ]);
  });

  test("written by hand are brought within bounds", () => {
    const wild = {
      ...EMPTY_MEMORY,
      summary: "word ".repeat(5_000),
      rules: Array.from({ length: 999 }, String),
    };
    expect(bounded(wild).summary?.length).toBeLessThanOrEqual(4_000);
    expect(bounded(wild).rules).toHaveLength(MOST_NAMES);
  });
});
