import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { TokenCounter } from "keyhole";
import { percentile } from "../percentile.ts";
import type { GatewayPeer, Servers } from "./gateway-peer.ts";
import { killMarked, markedProcesses, SYSTEM } from "./marked-processes.ts";
import { recallAtFive } from "./questions.ts";
import { fiveServers, withBroken } from "./servers.ts";
import { connectStdio, type ListedTool } from "./stdio-client.ts";

/** Figures of one system by metric. Those that it does not have are absent. */
export type Figures = Map<string, number>;

export interface Measured {
  readonly peer: GatewayPeer;
  readonly installed: string;
  /** The folder in which the fifth server is installed. */
  readonly fifth: string;
  /** Names of all tools behind the gateway. */
  readonly known: readonly string[];
  readonly countTokens: TokenCounter;
}

const CALLS = 200;
/** A system that needs longer for something counts as if it had taken this long. */
const LIMIT_MS = 20_000;
/** Processes have this long to end after their client has left. */
const GRACE_MS = 8_000;

/** One round with a folder of its own: a cold and a warm start, with all servers in order. */
export async function measureStarts(measured: Measured): Promise<Figures> {
  const figures: Figures = new Map();
  await inFolder(async (folder) => {
    const mark = markOf(measured);
    try {
      await session(measured, folder, figures, "cold", mark);
      // A daemon that the first client has started is there for the second.
      await session(measured, folder, figures, "warm", mark);
      figures.set("left_processes", await leftAfter(mark));
      await stop(measured, folder, mark);
      figures.set("left_after_stop", await leftAfter(mark));
    } finally {
      await killMarked(mark);
    }
  });
  return figures;
}

/** Starts beside a server that never answers, and beside one that ends at once. */
export async function measureBroken(measured: Measured): Promise<Figures> {
  const figures: Figures = new Map();
  await inFolder((folder) => brokenSession(measured, folder, figures, "hung", "silent"));
  await inFolder((folder) => brokenSession(measured, folder, figures, "crashed", "exit"));
  return figures;
}

async function session(
  measured: Measured,
  folder: string,
  figures: Figures,
  heat: "cold" | "warm",
  mark: string,
): Promise<void> {
  const { peer, known, countTokens } = measured;
  const { servers, file, fileText } = await fiveServers(folder, measured.fifth, mark);
  const client = await open(measured, folder, servers, mark);
  const started = performance.now();
  const { tools, instructions } = await client.list();
  figures.set(`list_${heat}_ms`, performance.now() - started);
  const read = peer.call("files", "read_text_file", { path: file });
  const answer = await within(() => client.call(read.name, read.args));
  if (!answer.includes(fileText.trim()))
    throw new Error(`${peer.name} read another text: ${answer.slice(0, 200)}`);
  figures.set(`first_call_${heat}_ms`, performance.now() - started);

  if (heat === "warm") {
    const menu = countTokens(JSON.stringify(tools.map(shown))) + countTokens(instructions);
    figures.set("menu_tokens", menu);
    const search = peer.search?.("read a text file");
    const found = search ? await client.call(search.name, search.args) : "";
    const said = [search?.args ?? "", found, read.args, answer].map((part) => countTokens(toText(part)));
    figures.set(
      "tokens_to_file",
      said.reduce((sum, tokens) => sum + tokens, menu),
    );
    const sum = peer.call("everything", "get-sum", { a: 2, b: 3 });
    const times: number[] = [];
    for (let count = 0; count < CALLS; count += 1) {
      const sent = performance.now();
      await client.call(sum.name, sum.args);
      times.push(performance.now() - sent);
    }
    figures.set("call_p50_ms", percentile(times, 50));
    figures.set("call_p95_ms", percentile(times, 95));
    if (peer.search) {
      const ask = async (question: string) => {
        const { name, args } = peer.search!(question);
        return client.call(name, args).catch(() => "");
      };
      figures.set("recall_at_5", await recallAtFive(known, ask));
    }
    figures.set("rss_mb", (await markedProcesses(mark)).megabytes);
  }
  await client.close();
}

/** Times the first list and the first call of a good server beside one that does not work. */
async function brokenSession(
  measured: Measured,
  folder: string,
  figures: Figures,
  metric: string,
  how: "silent" | "exit",
): Promise<void> {
  const mark = markOf(measured);
  const [list, call] = [`${metric}_list_ms`, `${metric}_first_call_ms`];
  const { servers, file } = await fiveServers(folder, measured.fifth, mark);
  const client = await open(measured, folder, withBroken(servers, how, mark), mark);
  const started = performance.now();
  const { name, args } = measured.peer.call("files", "read_text_file", { path: file });
  try {
    await within(() => client.list());
    figures.set(list, performance.now() - started);
    await within(() => client.call(name, args));
    figures.set(call, performance.now() - started);
  } catch {
    for (const missing of [list, call]) if (!figures.has(missing)) figures.set(missing, LIMIT_MS);
  }
  await client.close();
  await stop(measured, folder, mark);
  await killMarked(mark);
}

async function open({ peer, installed }: Measured, folder: string, servers: Servers, mark: string) {
  const start = await peer.start({ servers, folder, installed });
  return connectStdio({ ...start, env: { ...start.env, [SYSTEM]: mark } });
}

async function stop({ peer, installed }: Measured, folder: string, mark: string): Promise<void> {
  if (!peer.stop) return;
  const { command, args, cwd, env } = peer.stop({ servers: {}, folder, installed });
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, ...env, [SYSTEM]: mark },
    stdio: "ignore",
  });
  await once(child, "exit");
}

/** Counts the processes that are still there after a while. */
async function leftAfter(mark: string): Promise<number> {
  const until = performance.now() + GRACE_MS;
  let { count } = await markedProcesses(mark);
  while (count > 0 && performance.now() < until) {
    await sleep(200);
    ({ count } = await markedProcesses(mark));
  }
  return count;
}

/** Repeats what a system that is still starting answers with an error. */
async function within<T>(attempt: () => Promise<T>): Promise<T> {
  const until = performance.now() + LIMIT_MS;
  for (;;) {
    const left = until - performance.now();
    try {
      return await Promise.race([attempt(), sleep(left).then(() => Promise.reject(new Error("too late")))]);
    } catch (error) {
      if (performance.now() + 100 >= until) throw error;
      await sleep(100);
    }
  }
}

async function inFolder(task: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "keyhole-peers-"));
  try {
    await task(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

let marks = 0;
function markOf({ peer }: Measured): string {
  marks += 1;
  return `${process.pid}-${peer.name}-${marks}`;
}

/** The parts of a tool that clients show to models. */
function shown({ name, description, inputSchema }: ListedTool): object {
  return { name, description, inputSchema };
}

function toText(part: unknown): string {
  return typeof part === "string" ? part : JSON.stringify(part);
}
