import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, onTestFinished } from "vitest";
import { verifies } from "./claims.ts";
import { programEnv } from "./program-env.ts";
import { chaos, MAIN, openProgram } from "./threats/program.ts";
import { eventually, processesWith } from "./upstream-kit.ts";

verifies(
  "daemon:crash",
  "the program outlives a killed daemon, ends the servers that it left, and leaves nothing after a stop",
  async () => {
    const program = openProgram();
    const word = `KILLED_${process.pid}`;
    const called = join(program.folder, "called.txt");
    const server = chaos({ [word]: "1", CHAOS_LOG: called });
    const config = program.write("mcp.json", { mcpServers: { chaos: server } });
    const call = await program.serve("--trust", "--allow-write", "--config", config);
    const daemonOf = async () => JSON.parse((await program.keyhole("servers", "--json")).out).daemon;
    expect(await call("exec", { op: "chaos.add", args: { sum: 1 } })).toContain('"sum":1');
    const first = await daemonOf();
    expect(first).toMatchObject({ clients: 1, configs: 1, servers: 1 });
    expect(processesWith(`${word}=`)).toHaveLength(1);

    const lost = call("exec", { op: "chaos.hang", args: {} });
    // A call that has not reached the daemon when it ends is sent to the next one.
    await eventually(() => expect(readFileSync(called, "utf8")).toContain("hang"));
    process.kill(first.pid, "SIGKILL");
    expect(await lost).toContain("DAEMON_LOST");
    expect(await call("exec", { op: "chaos.add", args: { sum: 2 } })).toContain('"sum":2');
    await eventually(() => expect(processesWith(`${word}=`)).toHaveLength(1));

    const stopped = await program.keyhole("serve", "--stop");
    expect(stopped.out).toMatch(/^Stopping: Keyhole/);
    await eventually(() => expect(processesWith(`${word}=`)).toEqual([]));
    await eventually(async () => expect(await daemonOf()).toBe(null));
    expect((await program.keyhole("serve", "--stop")).out).toBe("No daemon runs.\n");
  },
);

/** The variables of one client that must not reach a daemon for all clients. */
const OF_THE_CLIENT = {
  NODE_OPTIONS: "--no-warnings",
  NODE_EXTRA_CA_CERTS: "/nowhere.pem",
  SSL_CERT_FILE: "/nowhere.pem",
  OTEL_EXPORTER_OTLP_ENDPOINT: "https://collector.example",
  GITHUB_TOKEN: "ghp_of_the_first_client",
};

verifies(
  "daemon:outlives",
  "a daemon survives when everything below the client that started it is killed, and has none of its variables",
  async () => {
    const program = openProgram();
    const config = program.write("mcp.json", { mcpServers: { chaos: chaos() } });
    const serve = [process.execPath, MAIN, "serve", "--trust", "--allow-write", "--config", config];
    // The client is a shell that starts the relay, as opencode and Copilot do.
    const env = { ...programEnv(program.home), ...OF_THE_CLIENT };
    const transport = new StdioClientTransport({
      command: "sh",
      args: ["-c", '"$@"; true', "sh", ...serve],
      cwd: program.folder,
      env,
      stderr: "ignore",
    });
    const client = new Client({ name: "test", version: "1" });
    await client.connect(transport);
    onTestFinished(async () => void (await program.keyhole("serve", "--stop")));
    const add = { name: "exec", arguments: { op: "chaos.add", args: { sum: 1 } } };
    await eventually(async () => expect(JSON.stringify(await client.callTool(add))).toContain("sum"));
    const daemonOf = async () => JSON.parse((await program.keyhole("servers", "--json")).out).daemon;
    const { pid } = await daemonOf();

    const names = readFileSync(`/proc/${pid}/environ`, "latin1").split("\0");
    for (const name of Object.keys(OF_THE_CLIENT))
      expect(names.filter((line) => line.startsWith(`${name}=`))).toEqual([]);

    // Some end with the one above them, before their turn.
    for (const below of tree(transport.pid!)) signal(below, "SIGKILL");
    await eventually(() => expect(tree(transport.pid!).filter((pid) => signal(pid, 0))).toEqual([]));
    expect(await daemonOf()).toMatchObject({ pid });
    const call = await program.serve("--trust", "--allow-write", "--config", config);
    expect(await call("exec", { op: "chaos.add", args: { sum: 2 } })).toContain('"sum":2');
    expect(await daemonOf()).toMatchObject({ pid, servers: 1 });
  },
);

/** A process, those below it by their parents, and those of their groups and sessions. */
function tree(top: number): number[] {
  const rows = readdirSync("/proc")
    .map(Number)
    .filter((pid) => pid > 1)
    .flatMap((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
        const [, parent, group, session] = stat
          .slice(stat.lastIndexOf(")") + 2)
          .split(" ")
          .map(Number);
        return [{ pid, parent, group, session }];
      } catch {
        return [];
      }
    });
  const members = new Set([top]);
  for (let size = 0; size < members.size; ) {
    size = members.size;
    for (const { pid, parent, group, session } of rows)
      if ([parent, group, session].some((id) => members.has(id!))) members.add(pid);
  }
  return [...members];
}

/** Sends a signal, 0 for none. False if the process has ended. */
function signal(pid: number, name: "SIGKILL" | 0): boolean {
  try {
    process.kill(pid, name);
    return true;
  } catch {
    return false;
  }
}

verifies(
  "daemon:outlives",
  "a daemon that cannot run is told at once, and the client is served",
  async () => {
    const program = openProgram();
    const config = program.write("mcp.json", { mcpServers: { chaos: chaos() } });
    const long = join(program.home, "x".repeat(120));
    const child = spawn(process.execPath, [MAIN, "serve", "--trust", "--config", config], {
      cwd: program.folder,
      env: { ...programEnv(program.home), KEYHOLE_STATE: long },
      stdio: "pipe",
    });
    onTestFinished(() => void child.kill());
    const started = performance.now();
    const [text] = await once(child.stderr, "data");
    expect(String(text)).toContain("it ended at its start; its log is");
    expect(String(text)).toContain("This client is served by a process of its own.");
    expect(performance.now() - started).toBeLessThan(15_000);
  },
);

verifies(
  "daemon:hand-over",
  "a daemon whose program was upgraded in place hands its clients over, with their results",
  async () => {
    const program = openProgram();
    const config = program.write("mcp.json", { mcpServers: { chaos: chaos() } });
    const installed = program.write("installed.mjs", `import ${JSON.stringify(MAIN)};\n`);
    const client = new Client({ name: "test", version: "1" });
    const serve = [installed, "serve", "--trust", "--allow-write", "--config", config];
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: serve,
        cwd: program.folder,
        env: programEnv(program.home),
        stderr: "ignore",
      }),
    );
    onTestFinished(async () => {
      await client.close();
      await program.keyhole("serve", "--stop");
    });
    const call = async (name: string, input: Record<string, unknown>) =>
      JSON.stringify((await client.callTool({ name, arguments: input })).content);
    const rows = Array.from({ length: 3_000 }, (_, row) => `row ${row}`);
    const large = await call("exec", { op: "chaos.add", args: { rows } });
    const [handle] = /\bresult:\/\/[\w-]+/.exec(large) ?? [];
    const daemonOf = async () => JSON.parse((await program.keyhole("servers", "--json")).out).daemon;
    const { pid } = await daemonOf();

    program.write("installed.mjs", `// The next version.\nimport ${JSON.stringify(MAIN)};\n`);
    await eventually(async () => {
      const daemon = await daemonOf();
      expect(daemon?.pid ?? pid).not.toBe(pid);
    }, 30_000);
    expect(await call("get", { routes: [handle!] })).toContain("row 1");
    expect(await call("exec", { op: "chaos.add", args: { sum: 1 } })).toContain("sum");
  },
);
