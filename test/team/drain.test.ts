import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, onTestFinished, test, vi } from "vitest";
import { verifies } from "../claims.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { connectTo } from "./call-tool.ts";
import { NO_POSTGRES, startPostgres } from "./start-postgres.ts";
import { createTeam } from "./start-team.ts";
import { serveTill } from "./till-upstream.ts";

vi.setConfig({ testTimeout: 300_000 });
const TITLE = "a replica that gets SIGTERM says that it is not ready, ends its calls, and loses none";
const WORKERS = 4;
/** All workers share a key, and a replica takes 50 requests a second of it. */
const PAUSE_MS = 100;
const database = startPostgres();
afterAll(() => database?.stop());

if (database) verifies("team:drain", TITLE, drain);
else test.skip(`${TITLE} (${NO_POSTGRES})`, () => {});

async function drain(): Promise<void> {
  const till = await serveTill(() => "shared");
  const team = await createTeam({
    folder: temporaryFolder(),
    database: database!.url,
    table: `drain_${process.pid}_${Date.now()}`,
    config: { mcpServers: { till: { url: till.url } } },
    words: ["--trust"],
  });
  onTestFinished(async () => {
    await team.close();
    till.close();
  });
  const key = await team.addKey("ann", "--allow-write");
  const replicas = await Promise.all([team.start(), team.start()]);
  let [isOver, begun] = [false, 0];
  const answered: string[] = [];
  /** Callers that repeat nothing: a call that is refused or cut off fails the test. */
  async function work(): Promise<void> {
    const call = await connectTo(team.balancer.url, key);
    while (!isOver) {
      begun += 1;
      const id = String(begun);
      const answer = await call("exec", { op: "till.create_charge", args: { id } });
      expect(answer).toContain(`"id":"${id}"`);
      answered.push(id);
      await sleep(PAUSE_MS);
    }
  }
  const working = Promise.all(Array.from({ length: WORKERS }, work));
  // Awaited later; a failure before that ends the work, and must not count as unhandled.
  working.catch(() => {});
  onTestFinished(() => {
    isOver = true;
  });
  await expect.poll(() => answered.length, { timeout: 20_000 }).toBeGreaterThan(WORKERS);

  const [leaving] = replicas;
  const call = await connectTo(leaving!.url, key);
  const slow = call("exec", { op: "till.create_slow", args: { id: "slow" } });
  await sleep(100);
  const ended = leaving!.stop();
  const ready = () => fetch(new URL("/readyz", leaving!.url)).then(({ status }) => status);
  await expect.poll(ready, { timeout: 3_000 }).toBe(503);
  expect((await fetch(new URL("/healthz", leaving!.url))).status).toBe(200);
  expect(await slow).toContain('"id":"slow"');
  expect(await ended).toBe(0);
  const before = answered.length;
  await expect.poll(() => answered.length, { timeout: 20_000 }).toBeGreaterThan(before + WORKERS);
  isOver = true;
  await working;
  expect(new Set(answered)).toEqual(new Set(till.effects.map(({ id }) => id).filter((id) => id !== "slow")));
  expect(till.effects).toHaveLength(answered.length + 1);
}
