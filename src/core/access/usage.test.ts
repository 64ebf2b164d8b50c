import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { verifies } from "../../../test/claims.ts";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import { openSqliteStorage } from "../storage/sql-storage.ts";
import { createUsage, type PeopleUsage, type UsageOptions } from "./usage.ts";

/** Gateways that share one storage, and a clock that the test moves. */
function gateways(count: number, limits: Pick<UsageOptions, "person" | "servers">) {
  const file = openSqliteStorage(join(temporaryFolder(), "usage.db"));
  const clock = { now: Date.parse("2026-11-18T12:00:00Z") };
  const all = Array.from({ length: count }, () =>
    createUsage({ open: file.open, now: () => clock.now, ...limits }),
  );
  onTestFinished(async () => {
    for (const one of all) await one.close();
    file.close();
  });
  return { all, clock };
}

let traces = 0;
const callOf = (person = "ann", server = "tracker") => {
  traces += 1;
  return { person, server, op: `${server}.issue.create`, traceId: String(traces) };
};

async function attempt(usage: PeopleUsage, call = callOf()): Promise<string> {
  return usage.enter(call).then(
    (leave) => {
      leave(false);
      return "ran";
    },
    (error: Error) => error.message,
  );
}

test("T17: calls of a day are never more than the limit, at several gateways at once", async () => {
  const { all, clock } = gateways(3, { person: { calls: 50 } });
  const outcomes = await Promise.all(Array.from({ length: 150 }, (_, index) => attempt(all[index % 3]!)));
  expect(outcomes.filter((outcome) => outcome === "ran")).toHaveLength(50);
  expect(outcomes.find((outcome) => outcome !== "ran")).toBe("The limit of ann is reached: 50 calls a day.");
  expect(await attempt(all[0]!, callOf("bob"))).toBe("ran");
  await expect(all[0]!.enter(callOf())).rejects.toMatchObject({
    code: "LIMIT_REACHED",
    next: expect.stringContaining("at 2026-11-19T00:00Z"),
  });
  clock.now += 12 * 3_600_000;
  expect(await attempt(all[0]!)).toBe("ran");
});

verifies("team:limits", "calls that one gateway took and did not need are those of the others", async () => {
  const { all } = gateways(2, { person: { calls: 100 } });
  expect(await attempt(all[0]!)).toBe("ran");
  await all[0]!.close();
  const outcomes = await Promise.all(Array.from({ length: 120 }, () => attempt(all[1]!)));
  expect(outcomes.filter((outcome) => outcome === "ran")).toHaveLength(99);
});

verifies("team:limits", "a server has limits for all people together", async () => {
  const { all } = gateways(1, { servers: { tracker: { calls: 3 } } });
  const people = ["ann", "bob", "cleo", "dan"];
  const outcomes = await Promise.all(people.map((person) => attempt(all[0]!, callOf(person))));
  expect(outcomes.filter((outcome) => outcome === "ran")).toHaveLength(3);
  expect(outcomes.at(-1)).toBe("The limit of tracker is reached: 3 calls a day.");
  expect(await attempt(all[0]!, callOf("dan", "wiki"))).toBe("ran");
});

verifies("team:limits", "no more calls run at the same time than the limit, over all gateways", async () => {
  const { all } = gateways(2, { person: { concurrent: 4 } });
  let [running, most, ran] = [0, 0, 0];
  const work = async (usage: PeopleUsage) => {
    for (let job = 0; job < 5; ) {
      const leave = await usage.enter(callOf()).catch(() => undefined);
      if (!leave) continue;
      running += 1;
      most = Math.max(most, running);
      await new Promise(setImmediate);
      running -= 1;
      leave(false);
      [job, ran] = [job + 1, ran + 1];
    }
  };
  await Promise.all([...all, ...all, ...all].map(work));
  expect(ran).toBe(30);
  expect(most).toBeLessThanOrEqual(4);
});

verifies("team:limits", "a gateway that was killed blocks nobody for long", async () => {
  const { all, clock } = gateways(2, { person: { concurrent: 1 } });
  await all[0]!.enter(callOf());
  expect(await attempt(all[1]!)).toBe("The limit of ann is reached: 1 calls at the same time.");
  clock.now += 31_000;
  expect(await attempt(all[1]!)).toBe("ran");
});

verifies("team:limits", "tokens of answers count, and the next call after the limit is refused", async () => {
  const { all } = gateways(2, { person: { tokens: 1_000 } });
  const call = callOf();
  (await all[0]!.enter(call))(false);
  all[0]!.answered({ person: "ann", traceId: call.traceId, tokens: 1_200 });
  expect(await attempt(all[0]!)).toBe("The limit of ann is reached: 1000 tokens a day.");
  await all[0]!.report(1);
  expect(await attempt(all[1]!)).toBe("The limit of ann is reached: 1000 tokens a day.");
});

test("the report has calls, failures and tokens by person, server and tool, of all gateways and days", async () => {
  const { all, clock } = gateways(2, {});
  for (const usage of all) {
    const call = callOf();
    (await usage.enter(call))(usage === all[0]);
    usage.answered({ person: "ann", traceId: call.traceId, tokens: 40 });
  }
  all[0]!.answered({ person: "bob", traceId: "a search", tokens: 7 });
  await all[1]!.report(1);
  await all[0]!.report(1);
  const tool = { server: "tracker", op: "tracker.issue.create" };
  expect(await all[0]!.report(1)).toEqual([
    { day: "2026-11-18", person: "ann", ...tool, calls: 2, failed: 1, tokens: 80 },
    { day: "2026-11-18", person: "bob", server: "", op: "", calls: 0, failed: 0, tokens: 7 },
  ]);
  expect(all[1]!.own()).toEqual([{ person: "ann", ...tool, calls: 1, failed: 0, tokens: 40 }]);
  clock.now += 86_400_000;
  await attempt(all[0]!);
  expect(await all[0]!.report(1)).toMatchObject([{ day: "2026-11-19", calls: 1 }]);
  expect(await all[0]!.report(2)).toHaveLength(3);
});
