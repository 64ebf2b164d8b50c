// The cost of state in PostgreSQL. `added` is the time of a call of an MCP server over HTTP through `keyhole serve --http`
// beyond a direct call of the same server: for one process with its state in memory and files, and for replicas with
// `state.postgres` behind their own addresses. `throughput` is that of callers at once over one, two and three replicas.
// Systems take turns within a round, so that load spikes hit all of them. Needs scripts/start-postgres.sh.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { startPostgres } from "../test/team/start-postgres.ts";
import { createTeam, type Team } from "../test/team/start-team.ts";
import { serveTill } from "../test/team/till-upstream.ts";
import type { Benchmark, Row } from "./benchmark.ts";
import { percentile } from "./percentile.ts";

/** A gateway limits requests of one caller, so several take turns. */
const CALLERS = 16;
const CALLS = 20;
const LOAD_MS = 4_000;
const REPLICAS = [1, 2, 3];
const MINUTE_MS = 60_000;

export const benchmark: Benchmark = async ({ minutes = 1 }) => {
  const database = startPostgres();
  if (!database) throw new Error("There is no PostgreSQL: scripts/start-postgres.sh says why.");
  const folder = mkdtempSync(join(tmpdir(), "keyhole-team-bench-"));
  const till = await serveTill(() => "shared");
  const open = async (name: string, url?: string): Promise<Team> => {
    const place = join(folder, name);
    mkdirSync(place);
    return createTeam({
      folder: place,
      ...(url !== undefined && { database: url, table: `bench_${process.pid}` }),
      config: { mcpServers: { till: { url: till.url } } },
      // Without a database, the person and the process share a folder.
      env: url === undefined ? { KEYHOLE_STATE: join(place, "state") } : {},
      words: ["--trust"],
    });
  };
  const teams = { memory: await open("memory"), postgres: await open("postgres", database.url) };
  try {
    const direct = await connectAll([till.url], undefined);
    const memory = await callersOf(teams.memory, 1);
    const postgres = await callersOf(teams.postgres, 1);
    const times = await alternate({ direct, memory, postgres }, minutes * MINUTE_MS);
    const rows = latencyRows(times);
    const alone = await throughput(memory);
    rows.push(row("1 replica", "memory", "throughput", alone, "calls/s"));
    for (const count of REPLICAS) {
      const all = count === 1 ? postgres : await callersOf(teams.postgres, count);
      const speed = await throughput(all);
      rows.push(row(replicas(count), "postgres", "throughput", speed, "calls/s"));
      rows.push(row(replicas(count), "postgres", "against memory", speed / alone, "x"));
    }
    return rows;
  } finally {
    await Promise.all(Object.values(teams).map((team) => team.close()));
    till.close();
    database.stop();
    rmSync(folder, { recursive: true, force: true });
  }
};

type Call = () => Promise<void>;

/** Callers with a key each, spread over the replicas of a team. Replicas that run already count. */
async function callersOf(team: Team, replicas: number): Promise<Call[]> {
  while (team.balancer.servers.size < replicas) await team.start();
  const urls = [...team.balancer.servers];
  return connectAll(urls, (number) => team.addKey(`caller-${replicas}-${number}`, "--allow-write"));
}

async function connectAll(urls: readonly string[], keyOf: ((number: number) => Promise<string>) | undefined) {
  const calls: Call[] = [];
  for (let number = 0; number < CALLERS; number += 1) {
    const key = await keyOf?.(number);
    const mode = { pin: "2026-07-28" } as const;
    const client = new Client({ name: "bench", version: "1" }, { versionNegotiation: { mode } });
    const requestInit = key === undefined ? {} : { headers: { authorization: `Bearer ${key}` } };
    await client.connect(
      new StreamableHTTPClientTransport(new URL(urls[number % urls.length]!), { requestInit }),
    );
    const args = { id: String(number) };
    const wanted =
      key === undefined
        ? { name: "get_receipt", arguments: args }
        : { name: "get", arguments: { routes: [{ route: "till.get_receipt", params: args }] } };
    calls.push(async () => {
      const { content } = await client.callTool(wanted);
      const [first] = content;
      if (first?.type !== "text" || !first.text.includes("receipt")) throw new Error(JSON.stringify(content));
    });
  }
  return calls;
}

/** Times calls of all systems in turns, one at a time. */
async function alternate<Name extends string>(systems: Record<Name, readonly Call[]>, forMs: number) {
  const entries = Object.entries(systems) as [Name, readonly Call[]][];
  const times = Object.fromEntries(entries.map(([name]) => [name, [] as number[]])) as Record<Name, number[]>;
  const until = performance.now() + forMs / 2;
  // The first calls of each caller connect, and are not counted.
  for (const [, calls] of entries) for (const call of calls) await call();
  for (let round = 0; performance.now() < until; round += 1)
    for (const [name, calls] of entries)
      for (let index = 0; index < CALLS; index += 1) {
        const started = performance.now();
        await calls[(round * CALLS + index) % calls.length]!();
        times[name].push(performance.now() - started);
      }
  return times;
}

function latencyRows(times: Record<"direct" | "memory" | "postgres", number[]>): Row[] {
  return [50, 95].flatMap((share) => {
    const at = (name: keyof typeof times) => percentile(times[name], share);
    const added = { memory: at("memory") - at("direct"), postgres: at("postgres") - at("direct") };
    return [
      row("one caller", "direct", `p${share}`, at("direct"), "ms"),
      row("one caller", "memory", `added p${share}`, added.memory, "ms"),
      row("one caller", "postgres", `added p${share}`, added.postgres, "ms"),
      row("one caller", "postgres", `added p${share} against memory`, added.postgres / added.memory, "x"),
    ];
  });
}

/** Calls a second of all callers at once. A caller that is too fast waits a moment. */
async function throughput(calls: readonly Call[]): Promise<number> {
  let made = 0;
  const started = performance.now();
  const work = async (call: Call) => {
    while (performance.now() - started < LOAD_MS) {
      const isMade = await call().then(
        () => true,
        () => false,
      );
      if (isMade) made += 1;
      else await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  await Promise.all(calls.map(work));
  return made / ((performance.now() - started) / 1_000);
}

function replicas(count: number): string {
  return count === 1 ? "1 replica" : `${count} replicas`;
}

function row(name: string, system: string, metric: string, value: number, unit: string): Row {
  return { bench: "team", case: name, system, metric, value, unit };
}
