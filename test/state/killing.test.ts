import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { verifies } from "../claims.ts";
import { isMeasuring } from "../is-measuring.ts";
import { type Balancer, startBalancer } from "./balancer.ts";
import { NO_SERVER } from "./open-state.ts";

const url = process.env.KEYHOLE_POSTGRES_URL ?? "";
/** `npm run verify` kills for longer than other runs. */
const SECONDS = Number(process.env.KEYHOLE_KILLING_SECONDS ?? (isMeasuring() ? 20 : 5));
const GATEWAYS = 3;
const KILL_EVERY_MS = 1_500;
const FEWEST_KILLS = 4;
const WORKERS = 6;
const TITLE =
  "of three gateways one is killed every few seconds: nothing is lost or doubled, every handle works";

if (url === "") {
  console.info(`${TITLE} (${NO_SERVER})`);
  test.skip(`${TITLE} (${NO_SERVER})`, () => {});
} else {
  verifies("exec:idempotency", TITLE, killUnderLoad);
}

/** The end of each keyed call as its callers saw it: its answer, or that its outcome is unknown. */
interface Seen {
  readonly answers: Map<string, number>;
  readonly unknown: Set<string>;
  readonly lostHandles: string[];
  readonly foreignHandles: string[];
  calls: number;
  retries: number;
}

async function killUnderLoad(): Promise<void> {
  const table = `killing_${process.pid}`;
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  await pool.query(
    `create table ${table}_effects (number bigint generated always as identity, id text not null)`,
  );
  const balancer = await startBalancer();
  const gateways = await Promise.all(Array.from({ length: GATEWAYS }, () => startGateway(balancer, table)));
  onTestFinished(async () => {
    for (const gateway of gateways) gateway.kill("SIGKILL");
    balancer.close();
    await dropTables(pool, table);
    await pool.end();
  });

  const seen: Seen = {
    answers: new Map(),
    unknown: new Set(),
    lostHandles: [],
    foreignHandles: [],
    calls: 0,
    retries: 0,
  };
  const ending = new AbortController();
  const working = Promise.all(
    Array.from({ length: WORKERS }, (_, number) => work(number, balancer, seen, ending.signal)),
  );
  const until = Date.now() + SECONDS * 1_000;
  let kills = 0;
  for (; kills < FEWEST_KILLS || Date.now() < until; kills += 1) {
    const [next] = await Promise.all([startGateway(balancer, table), setTimeout(KILL_EVERY_MS)]);
    gateways.shift()!.kill("SIGKILL");
    gateways.push(next);
  }
  ending.abort();
  await working;

  const { rows } = await pool.query(
    `select id, count(*)::int as times, min(number)::int as number from ${table}_effects group by id`,
  );
  const effects = new Map(rows.map(({ id, times, number }) => [String(id), { times, number }]));
  const doubled = [...effects].filter(([, { times }]) => times > 1).map(([id]) => id);
  const lost = [...seen.answers.keys()].filter((id) => !effects.has(id));
  const wrong = [...seen.answers].filter(([id, number]) => effects.get(id)?.number !== number);
  const untold = [...effects.keys()].filter((id) => !seen.answers.has(id) && !seen.unknown.has(id));
  console.info(
    `${seen.calls} calls, ${kills} kills, ${seen.retries} retries, ${seen.unknown.size} unknown outcomes, ` +
      `${doubled.length} doubled, ${lost.length} lost, ${seen.lostHandles.length} lost handles, ` +
      `${seen.foreignHandles.length} foreign handles`,
  );
  expect({ doubled, lost, wrong, untold }).toEqual({ doubled: [], lost: [], wrong: [], untold: [] });
  expect(seen.lostHandles).toEqual([]);
  expect(seen.foreignHandles).toEqual([]);
  expect(seen.answers.size).toBeGreaterThan(WORKERS);
  expect(seen.retries).toBeGreaterThan(0);
}

async function startGateway({ servers }: Balancer, table: string): Promise<ChildProcess> {
  const child = fork(join(import.meta.dirname, "gateway-process.ts"), [url, table]);
  const [served] = (await once(child, "message")) as [string];
  servers.add(served);
  child.once("exit", () => servers.delete(served));
  return child;
}

/** A caller that repeats a call with its key until it knows the outcome, and reads what it has handles of. */
async function work(number: number, balancer: Balancer, seen: Seen, ending: AbortSignal): Promise<void> {
  const [own, foreign] = [
    createCaller(balancer, `worker-${number}`, seen),
    createCaller(balancer, "mallory", seen),
  ];
  const opened = await own("ask", { query: "charge a card", session: "new" });
  const session = /ses_[\w-]+/.exec(opened)?.[0] ?? "";
  let handle = "";
  for (let job = 0; !ending.aborted; job += 1) {
    const id = `${number}-${job}`;
    const call = { op: "till.card.charge", args: { id }, idempotencyKey: id, session };
    const answer = await own("exec", call);
    seen.calls += 1;
    const charged = /"?number"?: ?(\d+)/.exec(answer)?.[1];
    if (charged !== undefined) seen.answers.set(id, Number(charged));
    else if (answer.includes("may have run")) seen.unknown.add(id);
    else expect.unreachable(answer);
    if (job % 5 === 0) {
      const list = await own("get", { routes: [{ route: "till.receipt.list", params: { id } }], session });
      handle = /result:\/\/[\w-]+/.exec(list)?.[0] ?? "";
    }
    const read = {
      routes: [{ route: handle, params: { path: "/2999/receipt" } }, { route: `session://${session}` }],
    };
    const mine = await own("get", read);
    if (!mine.includes("-2999") || mine.includes("is not known")) seen.lostHandles.push(mine);
    if (job % 10 === 0) {
      const theirs = await foreign("get", read);
      if (theirs.split("is not known").length !== 3) seen.foreignHandles.push(theirs);
    }
  }
}

/** Calls a tool over the balancer, again and again until a gateway answers. */
function createCaller({ url: address }: Balancer, principal: string, seen: Seen) {
  async function connect(): Promise<Client> {
    const requestInit = { headers: { authorization: principal } };
    const mode = { pin: "2026-07-28" } as const;
    const client = new Client({ name: "killing", version: "1" }, { versionNegotiation: { mode } });
    await client.connect(new StreamableHTTPClientTransport(new URL(address), { requestInit }));
    return client;
  }

  let client: Client | undefined;
  return async (name: string, args: Record<string, unknown>): Promise<string> => {
    for (;;) {
      try {
        client ??= await connect();
        const { content } = await client.callTool({ name, arguments: args });
        const [first] = content;
        const text = first?.type === "text" ? first.text : "";
        if (!text.includes("cannot reach the state")) return text;
      } catch {
        // The gateway was killed, or none was there.
        await client?.close().catch(() => {});
        client = undefined;
      }
      seen.retries += 1;
      await setTimeout(20);
    }
  };
}

async function dropTables(pool: pg.Pool, table: string): Promise<void> {
  const { rows } = await pool.query("select tablename from pg_tables where tablename like $1", [
    `${table}\\_%`,
  ]);
  for (const { tablename } of rows) await pool.query(`drop table "${tablename}" cascade`);
}
