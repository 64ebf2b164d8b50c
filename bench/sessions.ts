// Memory and processes of many sessions. Four and eight MCP servers of npm are put into the configs of two clients; one,
// five and sixteen sessions take turns between the clients. `direct` starts every server in every session, as clients do.
// `keyhole` is the built program, set up as a person does: `connect` for both clients, then `approve`. Every session
// lists the tools and calls one tool of each server before anything is counted. `memory` is the proportional set size of
// all processes of the run. Lines of the system `bar` have the most allowed. Linux only.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { installTool } from "../scripts/tool.ts";
import type { Benchmark, Row } from "./benchmark.ts";
import { connectStdio, type StdioClient } from "./gateways/stdio-client.ts";

const PROGRAM = resolve("dist/bin/keyhole.cjs");
const SESSIONS = [1, 5, 16];
const SETTLE_MS = 3_000;
const CLIENTS = { "claude-code": ".claude.json", cursor: ".cursor/mcp.json" } as const;
/** The most that Keyhole may take, as a share of what the servers take directly. */
const BARS = [
  { servers: 4, sessions: 1, share: 1.3 },
  { servers: 8, sessions: 16, share: 1 / 8 },
];

interface Server {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}
type Servers = Readonly<Record<string, Server>>;
type Call = readonly [tool: string, args: object];

/** One harmless call for each server. Those of the last four reach no network here and may fail. */
const CALLS: Readonly<Record<string, Call>> = {
  files: ["list_allowed_directories", {}],
  memory: ["read_graph", {}],
  everything: ["echo", { message: "hello" }],
  thinking: [
    "sequentialthinking",
    { thought: "one", nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 },
  ],
  github: ["get_issue", { owner: "a", repo: "b", issue_number: 1 }],
  notion: ["API-get-self", {}],
  playwright: ["browser_close", {}],
  devtools: ["list_pages", {}],
};

export const benchmark: Benchmark = async () => {
  const rows: Row[] = [];
  for (const count of [4, 8]) {
    for (const sessions of SESSIONS) {
      const direct = await measure(count, sessions, startDirect);
      const keyhole = await measure(count, sessions, startBehind);
      const row = (system: string, metric: string, value: number, unit: string): Row => ({
        bench: "sessions",
        case: `${count} servers, ${sessions} ${sessions === 1 ? "session" : "sessions"}`,
        system,
        metric,
        value,
        unit,
      });
      rows.push(
        row("direct", "memory", direct.megabytes, "MB"),
        row("direct", "processes", direct.processes, ""),
        row("keyhole", "memory", keyhole.megabytes, "MB"),
        row("keyhole", "processes", keyhole.processes, ""),
        row("keyhole", "share", keyhole.megabytes / direct.megabytes, "x"),
        ...BARS.filter((bar) => bar.servers === count && bar.sessions === sessions).map(({ share }) =>
          row("bar", "share", share, "x"),
        ),
      );
    }
  }
  return rows;
};

interface Run {
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
  readonly servers: Servers;
}

interface Usage {
  readonly megabytes: number;
  readonly processes: number;
}

async function measure(
  count: number,
  sessions: number,
  start: (run: Run, sessions: number) => Promise<StdioClient[]>,
): Promise<Usage> {
  const home = mkdtempSync(join(tmpdir(), "keyhole-sessions-"));
  const env = { HOME: home, XDG_CACHE_HOME: join(home, ".cache"), KEYHOLE_STATE: join(home, "state") };
  const run: Run = { home, env, servers: pick(home, count) };
  for (const file of Object.values(CLIENTS)) {
    mkdirSync(dirname(join(home, file)), { recursive: true });
    writeFileSync(join(home, file), JSON.stringify({ mcpServers: run.servers }));
  }
  try {
    const clients = await start(run, sessions);
    await setTimeout(SETTLE_MS);
    const usage = usageOf(home);
    await Promise.all(clients.map((client) => client.close()));
    return usage;
  } finally {
    keyhole(run, "serve", "--stop");
    killAll(home);
    rmSync(home, { recursive: true, force: true });
  }
}

function pick(home: string, count: number): Servers {
  const official = resolve("node_modules/@modelcontextprotocol");
  const more = join(installTool("servers"), "node_modules");
  const node = (path: string, ...args: string[]): Server => ({
    command: process.execPath,
    args: [path, ...args],
  });
  const servers = {
    files: node(join(official, "server-filesystem/dist/index.js"), home),
    memory: {
      ...node(join(official, "server-memory/dist/index.js")),
      env: { MEMORY_FILE_PATH: join(home, "memory.jsonl") },
    },
    everything: node(join(official, "server-everything/dist/index.js")),
    thinking: node(join(official, "server-sequential-thinking/dist/index.js")),
    github: node(join(more, "@modelcontextprotocol/server-github/dist/index.js")),
    notion: node(join(more, "@notionhq/notion-mcp-server/bin/cli.mjs")),
    playwright: node(join(more, "@playwright/mcp/cli.js"), "--headless"),
    devtools: node(
      join(more, "chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js"),
      "--browserUrl",
      "http://127.0.0.1:9",
    ),
  };
  return Object.fromEntries(Object.entries(servers).slice(0, count));
}

/** Every session starts every server of its config. */
async function startDirect({ env, servers }: Run, sessions: number): Promise<StdioClient[]> {
  const clients: StdioClient[] = [];
  for (let session = 0; session < sessions; session++)
    for (const [name, server] of Object.entries(servers)) {
      const client = connectStdio({ ...server, args: [...server.args], env: { ...env, ...server.env } });
      clients.push(client);
      await client.list();
      const [tool, args] = CALLS[name]!;
      await client.call(tool, args).catch(() => "");
    }
  return clients;
}

/** Every session starts what `connect` has written for its client. */
async function startBehind(run: Run, sessions: number): Promise<StdioClient[]> {
  for (const client of Object.keys(CLIENTS)) keyhole(run, "connect", client, "--yes");
  const hash = /^Hash: (\S+)$/m.exec(keyhole(run, "approve"))?.[1];
  if (hash === undefined) throw new Error("approve printed no hash.");
  keyhole(run, "approve", "--hash", hash);
  const entries = Object.values(CLIENTS).map((file) => {
    const { mcpServers } = JSON.parse(readFileSync(join(run.home, file), "utf8"));
    return mcpServers.keyhole as Server;
  });
  const clients: StdioClient[] = [];
  for (let session = 0; session < sessions; session++) {
    const { command, args } = entries[session % entries.length]!;
    const client = connectStdio({ command, args: [...args], env: run.env });
    clients.push(client);
    await client.list();
    for (const name of Object.keys(run.servers)) {
      const [tool, params] = CALLS[name]!;
      await client.call("exec", { op: `${name}.${tool}`, args: params }).catch(() => "");
    }
  }
  return clients;
}

function keyhole({ env, home }: Run, ...args: string[]): string {
  return spawnSync(process.execPath, [PROGRAM, ...args], {
    cwd: home,
    env: { ...process.env, ...env },
    encoding: "utf8",
    maxBuffer: 2 ** 28,
  }).stdout;
}

function killAll(home: string): void {
  for (const { pid } of processesOf(home))
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // The process ended with its parent.
    }
}

function usageOf(home: string): Usage {
  const processes = processesOf(home);
  return {
    megabytes: processes.reduce((sum, { kilobytes }) => sum + kilobytes, 0) / 1_024,
    processes: processes.length,
  };
}

/** Finds the processes of a run by their home folder. The daemon and the sandbox of a server count too. */
function processesOf(home: string): { readonly pid: number; readonly kilobytes: number }[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      if (!readFileSync(`/proc/${name}/environ`, "utf8").split("\0").includes(`HOME=${home}`)) return [];
      const pss = /^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${name}/smaps_rollup`, "utf8"))?.[1];
      return pss === undefined ? [] : [{ pid: Number(name), kilobytes: Number(pss) }];
    } catch {
      return []; // The process has ended.
    }
  });
}
