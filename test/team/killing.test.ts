import { afterAll, onTestFinished, test, vi } from "vitest";
import { verifies } from "../claims.ts";
import { isMeasuring } from "../is-measuring.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { expectProven, proveTeam, type TeamPerson } from "./prove-team.ts";
import { NO_POSTGRES, startPostgres } from "./start-postgres.ts";
import { createTeam } from "./start-team.ts";
import { serveTill } from "./till-upstream.ts";

/** `npm run verify -- --team` makes more calls. */
const CALLS = Number(process.env.KEYHOLE_TEAM_CALLS ?? (isMeasuring() ? 1_000 : 200));
const REPLICAS = 3;
const KILL_EVERY_MS = 2_500;
const WORKERS = 4;
const MS_PER_CALL = 1_500;
const START_MS = 120_000;
const TITLE =
  "two people behind one address, one of three replicas killed every few seconds: nothing lost, doubled or foreign";

vi.setConfig({ testTimeout: START_MS + CALLS * MS_PER_CALL });
const database = startPostgres();
afterAll(() => database?.stop());

if (database) verifies("team:replicas", TITLE, killUnderLoad);
else test.skip(`${TITLE} (${NO_POSTGRES})`, () => {});

/** Each person's group has a server of its own, and each server its own login. */
const GROUPS = { ann: "ops", bob: "crm" } as const;

async function killUnderLoad(): Promise<void> {
  const labels = Object.values(GROUPS);
  const tills = await Promise.all(
    labels.map((label) => serveTill((header) => (header === `Bearer ${label}` ? label : undefined))),
  );
  const team = await createTeam({
    folder: temporaryFolder(),
    database: database!.url,
    table: `team_${process.pid}_${Date.now()}`,
    config: {
      mcpServers: Object.fromEntries(
        labels.map((label, index) => [
          label,
          { url: tills[index]!.url, headers: { authorization: `Bearer ${label}` } },
        ]),
      ),
      overrides: Object.fromEntries(labels.map((label) => [label, { scopes: [label] }])),
    },
    words: ["--trust"],
  });
  onTestFinished(async () => {
    await team.close();
    for (const till of tills) till.close();
  });
  const people = Object.entries(GROUPS).map(async ([name, server], index): Promise<TeamPerson> => {
    const key = await team.addKey(name, "--scopes", server, "--allow-write");
    const authorization = async () => `Bearer ${key}`;
    return { name, server, till: tills[index]!, seenAs: server, authorization };
  });
  const proof = await proveTeam({
    team,
    people: await Promise.all(people),
    calls: CALLS,
    replicas: REPLICAS,
    killEveryMs: KILL_EVERY_MS,
    workers: WORKERS,
  });
  expectProven(proof);
}
