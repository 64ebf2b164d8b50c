import { expect, onTestFinished, test } from "vitest";
import type { SourceContent } from "../src/core/nouns/source.ts";
import { type FollowOptions, followSource, type Watcher } from "../src/sources/follow-source.ts";
import { manualClock } from "./manual-clock.ts";
import { eventually } from "./upstream-kit.ts";

const MINUTE = 60_000;

function contentOf(text: string): SourceContent {
  return { domains: [{ name: text, description: text, scopes: [], rules: [] }], drafts: [] };
}

/** Follows an origin that holds a text, and records what is shown and what fails. */
function start(options: Partial<FollowOptions> = {}) {
  const clock = manualClock();
  const state = { text: "one", reads: 0, broken: false, gate: Promise.resolve() };
  const shown: string[] = [];
  const failures: unknown[] = [];
  let watcher: Watcher | undefined;
  let last = contentOf("");
  const followed = followSource({
    clock,
    random: () => 0,
    read: async () => {
      state.reads += 1;
      const { text, broken } = state;
      await state.gate;
      if (broken) throw new Error("the origin is broken");
      if (last.domains[0]?.name !== text) last = contentOf(text);
      return { content: last };
    },
    watch: (given) => {
      watcher = given;
      return () => {};
    },
    ...options,
  });
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const run = async () => {
    for await (const { domains } of followed.contents(stop.signal, (error) => failures.push(error))) {
      shown.push(domains[0]?.name ?? "");
    }
  };
  void run();
  return { clock, state, shown, failures, followed, changed: () => watcher?.changed() };
}

test("a failed read keeps the content, is reported, and is retried with growing waits", async () => {
  const { clock, state, shown, failures, followed, changed } = start();
  await eventually(() => expect(shown).toEqual(["one"]));
  Object.assign(state, { text: "two", broken: true });
  changed();
  await eventually(() => expect(failures).toHaveLength(1));
  expect(followed.freshness().lastError).toBe("the origin is broken");
  await clock.advance(MINUTE / 2);
  await eventually(() => expect(failures).toHaveLength(2));
  await clock.advance(MINUTE / 2);
  expect(state.reads).toBe(3);
  state.broken = false;
  await clock.advance(MINUTE / 2);
  await eventually(() => expect(shown).toEqual(["one", "two"]));
  expect(followed.freshness()).not.toHaveProperty("lastError");
});

test("a change during a read causes another read", async () => {
  const { state, shown, changed } = start();
  await eventually(() => expect(shown).toEqual(["one"]));
  const gate = Promise.withResolvers<void>();
  state.gate = gate.promise;
  changed();
  await eventually(() => expect(state.reads).toBe(2));
  state.text = "two";
  changed();
  changed();
  gate.resolve();
  await eventually(() => expect(shown).toEqual(["one", "two"]));
  expect(state.reads).toBe(3);
});

test("a refresh does not settle for a read that began before it", async () => {
  const { state, shown, followed, changed } = start();
  await eventually(() => expect(shown).toEqual(["one"]));
  const gate = Promise.withResolvers<void>();
  state.gate = gate.promise;
  changed();
  await eventually(() => expect(state.reads).toBe(2));
  state.text = "two";
  const refreshed = Promise.all([followed.refresh(), followed.refresh()]);
  gate.resolve();
  await refreshed;
  expect(shown).toEqual(["one", "two"]);
  expect(state.reads).toBe(3);
});

test("unchanged content is not shown again", async () => {
  const { state, shown, followed } = start();
  await eventually(() => expect(shown).toEqual(["one"]));
  await followed.refresh();
  expect(state.reads).toBe(2);
  expect(shown).toEqual(["one"]);
});

test("an origin that is down is read when its rest is over", async () => {
  let rest: number | undefined = 100;
  const { clock, state, shown } = start({ ttlMs: 0, retryAfterMs: () => rest });
  await eventually(() => expect(shown).toEqual(["one"]));
  await clock.advance(99);
  expect(state.reads).toBe(1);
  rest = undefined;
  await clock.advance(1);
  expect(state.reads).toBe(2);
  await clock.advance(MINUTE);
  expect(state.reads).toBe(2);
});

test("without a listener for failures the iteration ends with the error", async () => {
  const followed = followSource({
    clock: manualClock(),
    read: async () => {
      throw new Error("the origin is broken");
    },
  });
  const first = followed.contents(new AbortController().signal)[Symbol.asyncIterator]().next();
  await expect(first).rejects.toThrow("the origin is broken");
});
