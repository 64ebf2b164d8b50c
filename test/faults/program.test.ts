import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { programEnv } from "../program-env.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { chaos, MAIN, openProgram } from "../threats/program.ts";
import { eventually, processesWith } from "../upstream-kit.ts";
import { exitOf, startProgram } from "./program.ts";

const { error: noPrlimit } = spawnSync("prlimit", ["--version"]);

/** A home with a config of one server. */
function home(env: Readonly<Record<string, string>> = {}) {
  const { home, folder, write } = openProgram();
  return { home, folder, config: write("mcp.json", { mcpServers: { bad: chaos(env) } }) };
}

/** The calls that reached the server. */
function callsIn(log: string): string[] {
  return readFileSync(log, "utf8").trim().split("\n");
}

test("shutdown: a signal lets running calls finish, and the exit code is 0", async () => {
  const mark = `shutdown-${process.pid}`;
  const log = join(temporaryFolder(), "calls");
  const { child, call } = await startProgram(home({ MARK: mark, CHAOS_LOG: log }));
  const running = Array.from({ length: 10 }, () => call("bad.slow", { ms: 1_500 }));
  await eventually(() => expect(callsIn(log)).toHaveLength(10), 60_000);
  child.kill("SIGTERM");
  const answers = await Promise.all(running);
  expect(answers.filter(({ text }) => text.includes("at last"))).toHaveLength(10);
  expect(await exitOf(child)).toBe(0);
  await eventually(() => expect(processesWith(mark)).toEqual([]));
});

test("shutdown: a second signal ends the program at once, and nothing of it is left", async () => {
  const mark = `second-${process.pid}`;
  const log = join(temporaryFolder(), "calls");
  const { child, call } = await startProgram(home({ MARK: mark, CHAOS_LOG: log }));
  const hung = call("bad.hang").catch(() => "ended");
  await eventually(() => expect(callsIn(log)).toEqual(["hang"]), 60_000);
  child.kill("SIGTERM");
  await new Promise((done) => setTimeout(done, 200));
  child.kill("SIGTERM");
  expect(await exitOf(child)).toBe(1);
  await hung;
  await eventually(() => expect(processesWith(mark)).toEqual([]));
});

test.skipIf(noPrlimit)(
  "disk-full: calls work without any space, and everything works when it is back",
  async () => {
    const { child, call } = await startProgram({ ...home(), through: ["prlimit", "--fsize=0:unlimited"] });
    for (let count = 0; count < 5; count += 1)
      expect((await call("bad.add", { count })).text).toContain(`${count}`);
    expect((await call("bad.big_line")).text).toContain("result://");
    spawnSync("prlimit", ["--pid", String(child.pid), "--fsize=unlimited:unlimited"]);
    expect((await call("bad.add", { back: true })).text).toContain("back");
    child.kill("SIGTERM");
    expect(await exitOf(child)).toBe(0);
  },
);

test.skipIf(noPrlimit)("no-descriptors: idle connections leave descriptors for requests", async () => {
  const { url, call } = await startProgram({ ...home(), through: ["prlimit", "--nofile=128:128"] });
  await call("bad.add");
  const { port } = new URL(url);
  const sockets = Array.from({ length: 400 }, () => connect(Number(port), "127.0.0.1").on("error", () => {}));
  onTestFinished(() => sockets.forEach((socket) => void socket.destroy()));
  await eventually(async () => expect((await call("bad.add", { still: true })).text).toContain("still"));
});

test("two-gateways: both serve from one home, and one goes on when the other is killed", async () => {
  const shared = home();
  const [first, second] = await Promise.all([startProgram(shared), startProgram(shared)]);
  const both = await Promise.all([first, second].map(({ call }) => call("bad.add", { a: 1 })));
  expect(both.map(({ status }) => status)).toEqual([200, 200]);
  first.child.kill("SIGKILL");
  await exitOf(first.child);
  expect((await second.call("bad.add", { b: 2 })).text).toContain("b");
  const third = await startProgram(shared);
  expect((await third.call("bad.add", { c: 3 })).text).toContain("c");
  expect(third.printed()).not.toContain("damaged");
});

test("malformed-client: no line on stdin keeps the next request from its answer", async () => {
  const { home: own, folder, config } = home();
  const child = spawn(process.execPath, [MAIN, "serve", "--no-daemon", "--trust", "--config", config], {
    cwd: folder,
    env: programEnv(own),
    stdio: ["pipe", "pipe", "ignore"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const answers: { id?: unknown }[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => answers.push(JSON.parse(line)));
  const send = (line: string) => child.stdin.write(`${line}\n`);
  const clientInfo = { name: "test", version: "1" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  send(JSON.stringify({ jsonrpc: "2.0", id: "first", method: "initialize", params }));
  for (const line of [
    "",
    "{",
    "not json",
    "\u0000\u001b[31m",
    "[]",
    "null",
    '{"jsonrpc":"1.0","id":1,"method":"tools/list"}',
    '{"jsonrpc":"2.0","id":{},"method":"tools/list"}',
    '{"jsonrpc":"2.0","id":2,"result":{}}',
    '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"exec","arguments":7}}',
    '{"jsonrpc":"2.0","id":4,"method":"no/such"}',
    `{"jsonrpc":"2.0","id":5,"method":"ping","params":${"[".repeat(5_000)}${"]".repeat(5_000)}}`,
  ]) {
    send(line);
  }
  send(JSON.stringify({ jsonrpc: "2.0", id: "last", method: "tools/list" }));
  await eventually(() => expect(answers.map(({ id }) => id)).toContain("last"), 60_000);
  expect(answers.filter(({ id }) => id === "last")).toHaveLength(1);
  expect(answers.find(({ id }) => id === 4)).toMatchObject({ error: { code: -32_601 } });
  child.stdin.end();
  expect(await exitOf(child)).toBe(0);
});

test("slow-consumer: a client that does not read stdout is served when it reads again", async () => {
  const { home: own, folder, config } = home();
  const child = spawn(
    process.execPath,
    [MAIN, "serve", "--no-daemon", "--trust", "--allow-write", "--config", config],
    {
      cwd: folder,
      env: programEnv(own),
      stdio: ["pipe", "pipe", "ignore"],
    },
  );
  onTestFinished(() => void child.kill("SIGKILL"));
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const clientInfo = { name: "test", version: "1" };
  send({
    id: 0,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo },
  });
  await once(child.stdout, "readable");
  const flood = { op: "bad.flood", args: { count: 50_000 } };
  send({
    id: 1,
    method: "tools/call",
    params: { name: "exec", arguments: flood, _meta: { progressToken: 1 } },
  });
  for (let id = 2; id < 50; id += 1) send({ id, method: "tools/list" });
  await new Promise((done) => setTimeout(done, 1_000));
  const ids = new Set<unknown>();
  createInterface({ input: child.stdout }).on("line", (line) => ids.add(JSON.parse(line).id));
  await eventually(() => expect(ids).toContain(1), 60_000);
  await eventually(() => expect(ids).toContain(49), 60_000);
  child.stdin.end();
  expect(await exitOf(child)).toBe(0);
});
