import assert from "node:assert/strict";
import type { SearchIndex } from "../search/port/search-index.ts";
import { HOSTILE } from "./index-behaviours/hostile.ts";
import type { Behaviour } from "./index-behaviours/index-behaviour.ts";
import { RANKING, WORDS } from "./index-behaviours/ranking.ts";
import { FILTERING, STORING } from "./index-behaviours/storing.ts";

/** The functions of a test framework. Those of vitest and `node:test` fit. */
export interface TestRunner {
  describe(name: string, body: () => void): unknown;
  readonly test: {
    (name: string, body: () => Promise<void>): unknown;
    skip?(name: string, body: () => Promise<void>): unknown;
  };
}

/** Options of {@link describeIndex} and {@link describeStorage}. */
export interface DescribeIndexOptions {
  /** Behaviours to skip, by name, each with its reason, which is printed. */
  readonly skip?: Readonly<Record<string, string>>;
}

const BEHAVIOURS: readonly Behaviour[] = [...STORING, ...FILTERING, ...RANKING, ...WORDS, ...HOSTILE];

/** Names of all behaviours, for `skip` of {@link describeIndex}. */
export const INDEX_BEHAVIOURS: readonly string[] = BEHAVIOURS.map(({ name }) => name);

/**
 * Tests that an engine behaves as the {@link SearchIndex} port demands. `create` must return a new, empty,
 * independent index each time. No score is compared with a number.
 *
 * @example
 * ```ts no-run
 * import { describe, test } from "node:test";
 * import { createEmbeddedIndex } from "keyhole/search";
 * import { describeIndex } from "keyhole/testing";
 *
 * describeIndex("embedded", () => createEmbeddedIndex(), { describe, test });
 * ```
 */
export function describeIndex(
  name: string,
  create: () => SearchIndex | Promise<SearchIndex>,
  runner: TestRunner,
  options: DescribeIndexOptions = {},
): void {
  const tests = BEHAVIOURS.map((behaviour) => ({
    name: behaviour.name,
    run: () => runBehaviour(behaviour, create),
  }));
  describeBehaviours(`${name} as a search index`, tests, runner, options);
}

/** Runs the behaviours of a port as tests. Skipped ones print their reason. */
export function describeBehaviours(
  title: string,
  behaviours: readonly { readonly name: string; readonly run: () => Promise<void> }[],
  runner: TestRunner,
  { skip = {} }: DescribeIndexOptions,
): void {
  const reasons = new Map(Object.entries(skip));
  for (const skipped of reasons.keys()) {
    assert.ok(
      behaviours.some(({ name }) => name === skipped),
      `There is no behaviour "${skipped}" to skip.`,
    );
  }
  runner.describe(title, () => {
    for (const { name, run } of behaviours) {
      const reason = reasons.get(name);
      if (reason === undefined) runner.test(name, run);
      else skipTest(runner, `${name} (skipped: ${reason})`);
    }
  });
}

async function runBehaviour(
  { documents, check }: Behaviour,
  create: () => SearchIndex | Promise<SearchIndex>,
): Promise<void> {
  const created: SearchIndex[] = [];
  async function fresh(): Promise<SearchIndex> {
    const index = await create();
    created.push(index);
    return index;
  }
  try {
    const index = await fresh();
    if (documents) await index.put(documents);
    await check(index, fresh);
  } finally {
    for (const index of created) await index.close();
  }
}

function skipTest({ test }: TestRunner, title: string): void {
  console.info(title);
  const skip = test.skip ?? test;
  skip(title, async () => {});
}
