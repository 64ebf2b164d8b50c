import { createLocalJWKSet, jwtVerify } from "jose";
import { afterAll, onTestFinished, test, vi } from "vitest";
import { verifies } from "../claims.ts";
import { isMeasuring } from "../is-measuring.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { type Issuer, startIssuer } from "./issuer.ts";
import { expectProven, listServers, proveTeam, type TeamPerson } from "./prove-team.ts";
import { NO_POSTGRES, startPostgres } from "./start-postgres.ts";
import { createTeam } from "./start-team.ts";
import { serveTill, type Till } from "./till-upstream.ts";

/** `npm run verify -- --team` makes more calls. */
const CALLS = Number(process.env.KEYHOLE_TEAM_CALLS ?? (isMeasuring() ? 1_000 : 200));
const REPLICAS = 3;
const KILL_EVERY_MS = 2_500;
const WORKERS = 4;
const MS_PER_CALL = 1_500;
const START_MS = 120_000;
const EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange";
const TITLE =
  "two people of an issuer, with their own tokens at servers, behind one address, one of three replicas killed every few seconds: nothing lost, doubled or foreign";

vi.setConfig({ testTimeout: START_MS + CALLS * MS_PER_CALL });
const database = startPostgres();
afterAll(() => database?.stop());

if (database) verifies("team:replicas", TITLE, killUnderLoad);
else test.skip(`${TITLE} (${NO_POSTGRES})`, () => {});

/** The groups of two people. Each has a profile with a server of its own. */
const GROUPS = { ann: "ops", bob: "crm" } as const;
const AUDIENCE = "http://127.0.0.1/mcp";
const CLIENT = { client_id: "keyhole", client_secret: "secret of the gateway" };

/** Starts servers that accept tokens of the issuer for themselves alone, and know people by them. */
async function serveTills(issuer: Issuer): Promise<readonly Till[]> {
  const keys = createLocalJWKSet(issuer.publicKeys());
  const personOf = async (header: string, audience: string) => {
    const token = header.replace("Bearer ", "");
    const checked = await jwtVerify(token, keys, { issuer: issuer.url, audience }).catch(() => undefined);
    return checked?.payload.sub;
  };
  return Promise.all(Object.values(GROUPS).map(() => serveTill(personOf)));
}

async function killUnderLoad(): Promise<void> {
  const labels = Object.values(GROUPS);
  const issuer = await startIssuer({
    people: Object.fromEntries(Object.entries(GROUPS).map(([name, group]) => [name, { groups: [group] }])),
    clients: [{ ...CLIENT, grant_types: [EXCHANGE], response_types: [], redirect_uris: [] }],
  });
  const tills = await serveTills(issuer);
  const oauth = { issuer: issuer.url, clientId: CLIENT.client_id, clientSecret: CLIENT.client_secret };
  const team = await createTeam({
    folder: temporaryFolder(),
    database: database!.url,
    table: `team_${process.pid}_${Date.now()}`,
    config: {
      sealKey: "a secret of the tests that seals logins",
      people: {
        issuer: issuer.url,
        audience: AUDIENCE,
        groups: Object.fromEntries(labels.map((label) => [label, { profile: label, write: true }])),
      },
      profiles: Object.fromEntries(labels.map((label) => [label, { servers: [label] }])),
      mcpServers: Object.fromEntries(
        labels.map((label, index) => [label, { url: tills[index]!.url, login: "exchange", oauth }]),
      ),
    },
    words: ["--trust"],
  });
  onTestFinished(async () => {
    await team.close();
    for (const till of tills) till.close();
    await issuer.close();
  });
  const people = Object.entries(GROUPS).map(
    ([name, server], index): TeamPerson => ({
      name,
      server,
      till: tills[index]!,
      seenAs: name,
      authorization: async () => `Bearer ${await issuer.accessToken(name, AUDIENCE)}`,
    }),
  );
  await listServers(team, people);
  const proof = await proveTeam({
    team,
    people,
    calls: CALLS,
    replicas: REPLICAS,
    killEveryMs: KILL_EVERY_MS,
    workers: WORKERS,
  });
  expectProven(proof);
}
