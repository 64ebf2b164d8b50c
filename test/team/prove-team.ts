import { setTimeout as sleep } from "node:timers/promises";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect } from "vitest";
import type { Replica, Team } from "./start-team.ts";
import type { Till } from "./till-upstream.ts";

/** A person of the proof: how they call, the server that is theirs, and how that server knows them. */
export interface TeamPerson {
  readonly name: string;
  /** The header of each request. It is asked for again after a refusal, because tokens expire. */
  authorization(): Promise<string>;
  /** The label of the server that only this person's group has. */
  readonly server: string;
  readonly till: Till;
  /** The name that the server reads from the token of this person's calls. */
  readonly seenAs: string;
}

interface ProofOptions {
  readonly team: Team;
  readonly people: readonly TeamPerson[];
  readonly calls: number;
  readonly replicas: number;
  readonly killEveryMs: number;
  /** Conversations of each person at the same time. */
  readonly workers: number;
}

/** Everything that callers saw, compared with everything that servers did. */
export type Proof = Awaited<ReturnType<typeof proveTeam>>;

interface Seen {
  /** The answer of each call, by its id. */
  readonly answers: Map<string, string>;
  readonly unknown: Set<string>;
  readonly foreign: string[];
  readonly lostHandles: string[];
  begun: number;
  retries: number;
}

/**
 * People call through one address while replicas are killed one after the other, and each call is repeated with its key
 * until its outcome is known. Everything is counted at both ends.
 */
export async function proveTeam(options: ProofOptions) {
  const { team, people, calls, workers } = options;
  const seen: Seen = {
    answers: new Map(),
    unknown: new Set(),
    foreign: [],
    lostHandles: [],
    begun: 0,
    retries: 0,
  };
  const replicas = await Promise.all(Array.from({ length: options.replicas }, () => team.start()));
  const ended = new AbortController();
  const killing = killOneByOne(team, replicas, options.killEveryMs, ended.signal);
  const next = () => {
    if (seen.begun >= calls) return undefined;
    seen.begun += 1;
    return String(seen.begun);
  };
  const working = Promise.all(
    people.flatMap((person, index) => {
      const other = people[(index + 1) % people.length]!;
      return Array.from({ length: workers }, () => work(team, person, other, seen, next));
    }),
  );
  await working.finally(() => ended.abort());
  return { ...judge(people, seen), kills: await killing, retries: seen.retries };
}

/** Lets the first caller of each server list its tools, as a first replica does it; later ones know them from the state. */
export async function listServers(team: Team, people: readonly TeamPerson[]): Promise<void> {
  const first = await team.start();
  const seen = { retries: 0 };
  for (const person of people) {
    const call = createCaller(team, person, seen);
    await call("exec", { op: `${person.server}.log_in` });
    await expect
      .poll(
        () => call("get", { routes: [{ route: `${person.server}.get_receipt`, params: { id: "none" } }] }),
        {
          timeout: 30_000,
        },
      )
      .toContain("receipt");
  }
  await first.stop();
}

async function killOneByOne(
  team: Team,
  replicas: Replica[],
  everyMs: number,
  ended: AbortSignal,
): Promise<number> {
  for (let kills = 0; ; kills += 1) {
    // Another one is ready before one goes, as orchestrators do it.
    await sleep(everyMs, undefined, { signal: ended }).catch(() => {});
    if (ended.aborted) return kills;
    const fresh = await team.start();
    replicas.push(fresh);
    replicas.shift()?.kill();
  }
}

const CHECK_EVERY = 10;

async function work(
  team: Team,
  person: TeamPerson,
  other: TeamPerson,
  seen: Seen,
  next: () => string | undefined,
): Promise<void> {
  const call = createCaller(team, person, seen);
  const { server } = person;
  const opened = await call("ask", { query: "charge a card", session: "new" });
  const session = /ses_[\w-]+/.exec(opened)?.[0] ?? "";
  let handle = "";
  for (let job = 0, id = next(); id !== undefined; job += 1, id = next()) {
    const key = `${person.name}-${id}`;
    const charge = { op: `${server}.create_charge`, args: { id: key }, idempotencyKey: key, session };
    const answer = await call("exec", charge);
    if (answer.includes("may have run")) seen.unknown.add(key);
    else seen.answers.set(key, answer);
    if (job % CHECK_EVERY > 0) continue;
    const list = { routes: [{ route: `${server}.list_receipts`, params: { id: key } }], session };
    handle = /result:\/\/[\w-]+/.exec(await call("get", list))?.[0] ?? handle;
    const mine = await call("get", { routes: [{ route: handle }, { route: `session://${session}` }] });
    if (mine.includes("is not known")) seen.lostHandles.push(mine);
    await tryForeign(createCaller(team, other, seen), { handle, session, server, key }, seen);
  }
}

/** Another person tries the result, the session, the server and the key of this one. */
async function tryForeign(
  call: ReturnType<typeof createCaller>,
  { handle, session, server, key }: Record<"handle" | "session" | "server" | "key", string>,
  seen: Seen,
): Promise<void> {
  const read = await call("get", { routes: [{ route: handle }, { route: `session://${session}` }] });
  if (read.split("is not known").length !== 3) seen.foreign.push(read);
  const ran = await call("exec", { op: `${server}.create_charge`, args: { id: key }, idempotencyKey: key });
  if (!/not found|does not exist|NOT_FOUND/i.test(ran)) seen.foreign.push(ran);
}

const RETRY_MS = 20;
/** Far more than a kill costs a caller. */
const MOST_TRIES = 1_000;

/** Calls over the address again and again until a replica answers. */
function createCaller({ balancer }: Team, person: TeamPerson, seen: Pick<Seen, "retries">) {
  async function connect(): Promise<Client> {
    const requestInit = { headers: { authorization: await person.authorization() } };
    const mode = { pin: "2026-07-28" } as const;
    const client = new Client({ name: "team", version: "1" }, { versionNegotiation: { mode } });
    await client.connect(new StreamableHTTPClientTransport(new URL(balancer.url), { requestInit }));
    return client;
  }
  let client: Client | undefined;
  return async (name: string, args: Record<string, unknown>): Promise<string> => {
    let last: unknown;
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      try {
        client ??= await connect();
        const { content } = await client.callTool({ name, arguments: args });
        const [first] = content;
        const text = first?.type === "text" ? first.text : "";
        if (!/cannot reach the state|still starting|UNAVAILABLE/.test(text)) return text;
        last = text;
      } catch (error) {
        last = error;
        // The replica was killed, none was there, or the caller was too fast.
        await client?.close().catch(() => {});
        client = undefined;
      }
      seen.retries += 1;
      await sleep(RETRY_MS);
    }
    throw new Error(`${person.name} gets no answer to ${name}: ${last}`);
  };
}

/** Compares what callers saw with what the servers of all people did. */
function judge(people: readonly TeamPerson[], { answers, unknown, foreign, lostHandles, begun }: Seen) {
  const figures = { doubled: 0, lost: 0, wrong: 0, untold: 0, foreignTokens: 0 };
  for (const { name, till, seenAs } of people) {
    const effects = Map.groupBy(till.effects, ({ id }) => id);
    for (const [id, runs] of effects) {
      if (runs.length > 1) figures.doubled += 1;
      if (runs.some(({ by }) => by !== seenAs) || !id.startsWith(`${name}-`)) figures.foreignTokens += 1;
      if (!answers.has(id) && !unknown.has(id)) figures.untold += 1;
    }
    for (const [id, answer] of answers) {
      if (!id.startsWith(`${name}-`)) continue;
      const [effect] = effects.get(id) ?? [];
      if (!effect) figures.lost += 1;
      else if (!answer.includes(id) || !answer.includes(String(effect.number))) figures.wrong += 1;
    }
  }
  const ended = answers.size + unknown.size;
  return {
    ...figures,
    calls: begun,
    unended: begun - ended,
    unknown: unknown.size,
    foreignAnswers: foreign.length,
    lostHandles: lostHandles.length,
    examples: [...foreign, ...lostHandles].slice(0, 3),
  };
}

/** Nothing lost, nothing doubled, nothing foreign. */
export function expectProven({ examples, calls, kills, retries, unknown, ...figures }: Proof): void {
  console.info(
    `${calls} calls, ${kills} kills, ${retries} retries, ${unknown} outcomes that a kill left unknown; ` +
      Object.entries(figures)
        .map(([name, count]) => `${name}: ${count}`)
        .join(", "),
  );
  expect({ ...figures, examples }).toEqual({
    ...{ doubled: 0, lost: 0, wrong: 0, untold: 0, unended: 0 },
    ...{ foreignAnswers: 0, foreignTokens: 0, lostHandles: 0, examples: [] },
  });
  expect(kills).toBeGreaterThan(0);
}
