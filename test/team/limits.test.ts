import { afterAll, expect, onTestFinished, test, vi } from "vitest";
import { verifies } from "../claims.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { connectTo } from "./call-tool.ts";
import { NO_POSTGRES, startPostgres } from "./start-postgres.ts";
import { createTeam } from "./start-team.ts";
import { serveTill } from "./till-upstream.ts";

vi.setConfig({ testTimeout: 300_000 });
const TITLE = "two replicas share the limits of a person, say when it is free again, and count what it costs";
const database = startPostgres();
afterAll(() => database?.stop());

if (database) verifies("team:limits", TITLE, reachLimit);
else test.skip(`${TITLE} (${NO_POSTGRES})`, () => {});

const CALLS = 10;

async function reachLimit(): Promise<void> {
  const till = await serveTill(() => "shared");
  const team = await createTeam({
    folder: temporaryFolder(),
    database: database!.url,
    table: `limits_${process.pid}_${Date.now()}`,
    config: {
      mcpServers: { till: { url: till.url } },
      limits: { person: { calls: CALLS }, prices: { currency: "EUR", servers: { till: 0.5 } } },
    },
    words: ["--trust"],
  });
  onTestFinished(async () => {
    await team.close();
    till.close();
  });
  const keys = [await team.addKey("ann", "--allow-write"), await team.addKey("bob", "--allow-write")];
  const admin = await team.addKey("prometheus", "--scopes", "keyhole:admin");
  const [one] = await Promise.all([team.start(), team.start()]);
  const [ann, bob] = await Promise.all(keys.map((key) => connectTo(team.balancer.url, key)));
  const charge = (id: number) => ({ op: "till.create_charge", args: { id: String(id) } });
  const answers: string[] = [];
  for (let id = 0; id < CALLS + 5; id += 1) answers.push(await ann!("exec", charge(id)));
  const over = answers.filter((answer) => answer.includes("LIMIT_REACHED"));
  expect([answers.length - over.length, over.length]).toEqual([CALLS, 5]);
  expect(over[0]).toMatch(
    /agent:ann#\w+ is reached: 10 calls a day\. Nothing ran\. It is free again at \d{4}-/,
  );
  expect(till.effects).toHaveLength(CALLS);
  expect(await bob!("exec", charge(99))).toContain('"id":"99"');

  const read = async (path: string) =>
    fetch(new URL(path, one!.url), { headers: { authorization: `Bearer ${admin}` } });
  const usage = async () => (await read("/api/usage?days=1")).json() as Promise<Record<string, unknown>>;
  await expect.poll(usage, { timeout: 10_000 }).toMatchObject({
    currency: "EUR",
    people: [
      { name: expect.stringMatching(/^agent:ann#/), calls: CALLS, failed: 0, cost: CALLS / 2 },
      { name: expect.stringMatching(/^agent:bob#/), calls: 1, cost: 0.5 },
    ],
    servers: [{ name: "till", calls: CALLS + 1 }],
    tools: [{ name: "till.create_charge", calls: CALLS + 1 }],
  });
  const metrics = await (await read("/metrics/usage")).text();
  expect(metrics).toMatch(
    /keyhole_usage_calls_total\{person="agent:ann#\w+",server="till",tool="till.create_charge"\} \d/,
  );
}
