// Keyhole beside gateways that install from npm or PyPI: the same five real servers behind each, in turns in one run. Times of
// starts are from the first request to its answer; `first_call` is from the same moment until a file has been read.
// `tokens_to_file` counts all that a model reads and writes until then: the menu, the search, the call, the file.
// `rss_mb` is the memory of the system without the servers behind it, daemons included. `left_processes` still run after
// the client; Keyhole and mcporter keep a daemon for the next one, and `left_after_stop` still run after it was told to
// stop. A system that lists every tool has no search: its `recall_at_5` says that it does not apply.
import { spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadTokenCounter } from "keyhole";
import type { Benchmark, Row } from "./benchmark.ts";
import { type Figures, type Measured, measureBroken, measureStarts } from "./gateways/measure.ts";
import { LEFT_OUT, PEERS } from "./gateways/peers.ts";
import { FIFTH, fiveServers } from "./gateways/servers.ts";
import { connectStdio, type ListedTool } from "./gateways/stdio-client.ts";
import { installPackages, installPython } from "./install-packages.ts";
import { percentile } from "./percentile.ts";

const ROUNDS = 3;

export const benchmark: Benchmark = async ({ systems }) => {
  if (process.platform !== "linux")
    throw new Error("The benchmark finds processes in /proc, so it needs Linux.");
  const built = spawnSync(process.execPath, ["scripts/build.ts"], { stdio: ["ignore", "ignore", "inherit"] });
  if (built.status !== 0) throw new Error("The package cannot be built.");
  const fifth = installPackages("peers", "fifth-server", FIFTH);
  if ("reason" in fifth) throw new Error(fifth.reason);
  const countTokens = await loadTokenCounter();
  const tools = await listDirectly(fifth.folder);
  const known = tools.map(({ name }) => name);
  const rounds = new Map<string, Figures[]>();
  const ready = PEERS.filter(({ name }) => systems?.includes(name) ?? true).flatMap((peer): Measured[] => {
    const { name, packages, python } = peer;
    const installed = python
      ? installPython(name, python)
      : packages && installPackages("peers", name, packages);
    if (installed && "reason" in installed) {
      console.error(`peers: without ${peer.name}: ${installed.reason}`);
      return [];
    }
    return [{ peer, installed: installed?.folder ?? "", fifth: fifth.folder, known, countTokens }];
  });
  for (const [name, reason] of Object.entries(LEFT_OUT)) console.error(`peers: without ${name}: ${reason}`);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const measured of ready) {
      const { name } = measured.peer;
      console.error(`peers: ${name}, round ${round + 1} of ${ROUNDS}`);
      try {
        const figures = [
          await measureStarts(measured),
          ...(round === 0 ? [await measureBroken(measured)] : []),
        ];
        rounds.set(name, [...(rounds.get(name) ?? []), ...figures]);
      } catch (error) {
        // One peer that fails must not cost the figures of the others.
        console.error(`peers: ${name} failed: ${(error as Error).message}`);
      }
    }
  }
  const menu = countTokens(JSON.stringify(tools));
  return [toRow("direct", "menu_tokens", menu), toRow("direct", "tools", tools.length), ...toRows(rounds)];
};

/** The median of the rounds. */
function toRows(rounds: ReadonlyMap<string, readonly Figures[]>): Row[] {
  const metrics = [...new Set([...rounds.values()].flat().flatMap((figures) => [...figures.keys()]))];
  return [...rounds].flatMap(([system, figures]) =>
    metrics.flatMap((metric) => {
      const values = figures.flatMap((round) => round.get(metric) ?? []);
      if (values.length > 0) return [toRow(system, metric, percentile(values, 50))];
      return [{ ...toRow(system, metric, Number.NaN), note: "does not apply: it lists every tool" }];
    }),
  );
}

function toRow(system: string, metric: string, value: number): Row {
  return { bench: "peers", case: "five-servers", system, metric, value, unit: unitOf(metric) };
}

function unitOf(metric: string): string {
  if (metric.endsWith("_ms")) return "ms";
  if (metric.endsWith("_mb")) return "MB";
  if (metric.includes("tokens")) return "tokens";
  return metric === "recall_at_5" ? "share" : "count";
}

/** The tools as a client without a gateway lists them. */
async function listDirectly(fifth: string): Promise<ListedTool[]> {
  const folder = await mkdtemp(join(tmpdir(), "keyhole-peers-"));
  const { servers } = await fiveServers(folder, fifth, "direct");
  const lists = Object.values(servers).map(async (server) => {
    const client = connectStdio(server);
    const { tools } = await client.list();
    await client.close();
    return tools.map(({ name, description, inputSchema }) => ({
      name,
      ...(description && { description }),
      inputSchema,
    }));
  });
  const tools = (await Promise.all(lists)).flat();
  await rm(folder, { recursive: true, force: true });
  return tools;
}
