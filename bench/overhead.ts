// What Keyhole costs: the same tool with the same client, directly and through Keyhole, in turns in the same run,
// each part a process of its own. `added_p50` and `way_ratio` compare whole ways: a call of the SDK's own server, and
// one that Keyhole passes on to that server, so that two servers and two clients work on it. `throughput_ratio`
// compares the servers alone: Keyhole with the tool in code, and the SDK's own with the same tool.
import type { Benchmark, Row } from "./benchmark.ts";
import { type EchoSystem, httpSystems, inCode, stdioSystems } from "./overhead/echo-system.ts";
import { manyClients } from "./overhead/many-clients.ts";
import { percentile } from "./percentile.ts";

const ROUNDS = 5;
const SEQUENTIAL = 200;
const CONCURRENT = 480;
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

async function compareWays(which: string, systems: readonly EchoSystem[]): Promise<Row[]> {
  const samples = new Map<string, Sample[]>(systems.map(({ name }) => [name, []]));
  // The first round warms up.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const system of systems) {
      const sample = await measure(system);
      if (round > 0) samples.get(system.name)!.push(sample);
    }
  }
  const median = (name: string, what: keyof Sample) =>
    percentile(
      samples.get(name)!.map((sample) => sample[what]),
      50,
    );
  return ["keyhole", "keyhole-lanes"].flatMap((system) => {
    const row = (metric: string, value: number, unit: string) => ({
      bench: "overhead",
      case: which,
      system,
      metric,
      value,
      unit,
    });
    return [
      row("direct_p50", median("direct", "p50"), "ms"),
      row("through_p50", median(system, "p50"), "ms"),
      row("added_p50", median(system, "p50") - median("direct", "p50"), "ms"),
      row("throughput_ratio", median(inCode(system), "rate") / median("direct", "rate"), "x"),
      row("way_ratio", median(system, "rate") / median("direct", "rate"), "x"),
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
