// The cost of Keyhole: the same client calls the same tool directly and through Keyhole, in turns in one run, with
// every part in its own process. `added_p50` and `way_ratio` compare whole paths: a call of the SDK's server with a
// call that Keyhole passes on to that server (two servers and two clients). Over HTTP, `bare-proxy` shows the part of
// it that the hop takes by itself. `throughput_ratio` compares the servers alone: Keyhole and the SDK's server, each
// with the tool in code.
import type { Benchmark, Row } from "./benchmark.ts";
import { type EchoSystem, httpSystems, inCode, stdioSystems } from "./overhead/echo-system.ts";
import { manyClients } from "./overhead/many-clients.ts";
import { percentile } from "./percentile.ts";

const WARM_UP = 4;
const ROUNDS = 15;
const SEQUENTIAL = 100;
const CONCURRENT = 320;
const CONCURRENCY = 16;

interface Sample {
  readonly p50: number;
  readonly rate: number;
}

export const benchmark: Benchmark = async () => {
  const stdio = await stdioSystems();
  const rows = await compareWays("stdio", stdio);
  for (const system of stdio) await system.close();

  const http = await httpSystems();
  rows.push(...(await compareWays("http", http.systems)));
  for (const name of ["keyhole", "keyhole-lanes"]) {
    rows.push(...(await manyClients(() => http.connect(name), name)));
  }
  for (const system of http.systems) await system.close();
  await http.stop();
  return rows;
};

/** Compares within a round, so that load spikes hit every system. */
async function compareWays(which: string, systems: readonly EchoSystem[]): Promise<Row[]> {
  const rounds: ReadonlyMap<string, Sample>[] = [];
  for (let round = 0; round < WARM_UP + ROUNDS; round++) {
    const samples = new Map<string, Sample>();
    for (const system of systems) samples.set(system.name, await measure(system));
    if (round >= WARM_UP) rounds.push(samples);
  }
  const median = (figure: (of: (name: string) => Sample) => number) =>
    percentile(
      rounds.map((samples) => figure((name) => samples.get(name)!)),
      50,
    );
  const has = (name: string) => systems.some((system) => system.name === name);
  return ["bare-proxy", "keyhole", "keyhole-lanes"].filter(has).flatMap((system) => {
    const row = (metric: string, value: number, unit: string) => ({
      bench: "overhead",
      case: which,
      system,
      metric,
      value,
      unit,
    });
    return [
      row(
        "direct_p50",
        median((of) => of("direct").p50),
        "ms",
      ),
      row(
        "through_p50",
        median((of) => of(system).p50),
        "ms",
      ),
      row(
        "added_p50",
        median((of) => of(system).p50 - of("direct").p50),
        "ms",
      ),
      ...(has(inCode(system))
        ? [
            row(
              "throughput_ratio",
              median((of) => of(inCode(system)).rate / of("direct").rate),
              "x",
            ),
          ]
        : []),
      row(
        "way_ratio",
        median((of) => of(system).rate / of("direct").rate),
        "x",
      ),
    ];
  });
}

async function measure({ echo }: EchoSystem): Promise<Sample> {
  const times: number[] = [];
  for (let count = 0; count < SEQUENTIAL; count++) {
    const sent = performance.now();
    await check(echo, `one ${count}`);
    times.push(performance.now() - sent);
  }
  const started = performance.now();
  await Promise.all(
    Array.from({ length: CONCURRENCY }, async (_, lane) => {
      for (let count = 0; count < CONCURRENT / CONCURRENCY; count++)
        await check(echo, `many ${lane} ${count}`);
    }),
  );
  return { p50: percentile(times, 50), rate: (CONCURRENT * 1000) / (performance.now() - started) };
}

async function check(echo: EchoSystem["echo"], text: string): Promise<void> {
  const answer = await echo(text);
  if (answer !== text) throw new Error(`${answer} instead of ${text}`);
}
