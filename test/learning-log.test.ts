import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { knowSecrets } from "../src/base/safety/known-secrets.ts";
import { openSqliteStorage } from "../src/core/storage/sql-storage.ts";
import { createLearning } from "../src/search/learning/learning.ts";
import { KEPT_EVENTS, type LearningEvent, LearningLog } from "../src/search/learning/learning-log.ts";
import { allBytes } from "./audit-kit.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const HITS = [
  { id: "a", score: 1 },
  { id: "b", score: 0.8 },
];
const CALLER = { scope: "s", conversation: "asking", principal: "asking" };
const ask = (query: string, shown: string[], conversation = "c") =>
  ({ kind: "asked", scope: "s", principal: "asking", conversation, query, shown }) as const;
const use = (route: string, conversation = "c") =>
  ({ kind: "used", scope: "s", principal: "asking", conversation, route }) as const;

/** A file of learning. Each call of `open` is another process. */
function learningFile() {
  const path = join(temporaryFolder(), "deep", "learning.db");
  const open = () => {
    const file = openSqliteStorage(path);
    onTestFinished(file.close);
    const learning = createLearning({ log: file.open, now: () => 1 });
    return { ...learning, close: () => learning.close().finally(file.close) };
  };
  return { path, open, bytes: () => allBytes(dirname(path)) };
}

async function useOnce(learning: ReturnType<typeof createLearning>, query: string, route: string) {
  await learning.lift(CALLER, query, HITS);
  learning.note(ask(query, ["a", "b"]));
  learning.note(use(route));
}

test("secrets in queries are neither kept nor compared", async () => {
  const { open, bytes } = learningFile();
  const learning = open();
  await useOnce(learning, "log in with sk-abcdefghijklmnopqrstuvwxyz123456", "b");
  await learning.close();
  expect(bytes()).toContain("log in with");
  expect(bytes()).not.toContain("abcdefghijklmnop");
  expect((await learning.lift(CALLER, "log in with", HITS))[0]?.id).toBe("b");
});

test("T14: the value of a configured secret in a query is neither kept nor compared", async () => {
  knowSecrets(["plain-Words-7731-door"]);
  const { open, bytes } = learningFile();
  const learning = open();
  await useOnce(learning, "log in with plain-Words-7731-door now", "b");
  await learning.close();
  expect(bytes()).toContain("log in with");
  expect(bytes()).not.toContain("7731");
});

test("forgotten uses no longer count, nor are they in the file", async () => {
  const { open, bytes } = learningFile();
  const learning = open();
  await useOnce(learning, "ring the bell", "b");
  await learning.close();
  expect(bytes()).toContain("ring the bell");
  expect(await learning.forget({ route: "b" })).toBe(2);
  expect(await learning.lift(CALLER, "ring the bell", HITS)).toEqual(HITS);
  await learning.close();
  expect(bytes()).not.toContain("ring the bell");
});

test("another process learns the same; damaged values are passed over", async () => {
  const word = fc.constantFrom("a", "b", "c");
  const event = fc.oneof(
    fc
      .tuple(fc.array(word), fc.array(word), word)
      .map(([words, shown, talk]) => ask(words.join(" "), shown, talk)),
    fc.tuple(word, word).map(([route, talk]) => use(route, talk)),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(event, { maxLength: 100 }), async (events) => {
      const { open, path } = learningFile();
      const first = open();
      for (const each of events) first.note(each);
      await first.close();
      if (events.length > 0) damage(path);
      const second = open();
      for (const query of ["a", "b c", "a b c"])
        expect(await second.lift(CALLER, query, HITS)).toEqual(await first.lift(CALLER, query, HITS));
      for (const route of ["a", "b", "c"])
        expect(await second.after("s", route, "c")).toEqual(await first.after("s", route, "c"));
      const countsOf = async (one: typeof first) =>
        (await one.unmet()).map(({ query, times }) => [query, times]);
      expect(await countsOf(second)).toEqual(await countsOf(first));
      await Promise.all([first.close(), second.close()]);
    }),
    { numRuns: 30 },
  );
});

/** Adds values that are no events at the end of the list. */
function damage(path: string): void {
  const database = new DatabaseSync(path);
  const lists = "from stored_values where key <> 'current'";
  for (const text of ['{"kind":"asked"', "\\u0000", '[{"kind":"used","route":7}]'])
    database.exec(
      `insert into stored_values select kind, owner, key, max(position) + 1, used_at, bytes, revision, '${text}' ${lists}`,
    );
  database.close();
}

test("a file that cannot be written breaks nothing", async () => {
  const learning = createLearning({ log: openSqliteStorage("/dev/null/learning.db").open });
  await useOnce(learning, "ring the bell", "b");
  await learning.close();
  expect((await learning.lift(CALLER, "ring the bell", HITS))[0]?.id).toBe("b");
});

test("T17: the log does not grow for as long as its gateway runs, and keeps the newest events of all", async () => {
  const { path } = learningFile();
  const file = openSqliteStorage(path);
  onTestFinished(file.close);
  const [log, other] = [new LearningLog(file.open), new LearningLog(file.open)];
  const event = (route: string): LearningEvent => ({ ...use(route), at: 1 });
  other.append(event("other"));
  await other.close();
  for (let number = 0; number < 45_000; number += 1) {
    log.append(event(String(number)));
    if (number % 500 === 499) await log.close();
  }
  const stored = new LearningLog(file.open);
  await stored.load();
  const routes = stored.events.map((one) => (one.kind === "used" ? one.route : ""));
  expect(routes).toEqual(Array.from({ length: KEPT_EVENTS }, (_, at) => String(45_000 - KEPT_EVENTS + at)));
  const database = new DatabaseSync(path);
  const [row] = database
    .prepare("select sum(json_array_length(value)) as events from stored_values where key <> 'current'")
    .all();
  database.close();
  expect(row?.events).toBeLessThanOrEqual(2 * KEPT_EVENTS + 500);
  other.append(event("late"));
  await other.close();
  await stored.close();
  const last = new LearningLog(file.open);
  await last.load();
  expect(last.events.at(-1)).toMatchObject({ route: "late" });
  await last.close();
});

test("processes that add, forget and shorten at the same time lose no event of the others", async () => {
  const { path } = learningFile();
  const file = openSqliteStorage(path);
  onTestFinished(file.close);
  const logs = Array.from({ length: 4 }, () => new LearningLog(file.open));
  await Promise.all(
    logs.map(async (log, writer) => {
      for (let number = 0; number < 50; number += 1) {
        log.append({ ...use(`${writer}-${number}`), at: 1 });
        if (number % 7 === writer) await log.forget({ route: `${writer}-${number}` });
        await log.close();
      }
    }),
  );
  const last = new LearningLog(file.open);
  await last.load();
  await last.close();
  const expected = logs.flatMap((_, writer) =>
    Array.from({ length: 50 }, (__, number) => number)
      .filter((number) => number % 7 !== writer)
      .map((number) => `${writer}-${number}`),
  );
  const routes = last.events.map((one) => (one.kind === "used" ? one.route : ""));
  expect(routes.toSorted()).toEqual(expected.toSorted());
});
