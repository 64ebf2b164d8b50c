import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, onTestFinished, test } from "vitest";
import { programEnv } from "../program-env.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { eventually } from "../upstream-kit.ts";
import { ERAS } from "./connect.ts";

const MAIN = "src/program/main.ts";
const CONFIG = ["--config", "examples/mcp/keyhole.config.ts"];

test.each(ERAS)("keyhole serve answers a client of %s over stdio and exits with it", async (era) => {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MAIN, "serve", "--allow-write", ...CONFIG],
    stderr: "pipe",
  });
  const mode = era === "2026-07-28" ? { pin: era } : ("legacy" as const);
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  await client.connect(transport);
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(["ask", "help", "get", "exec"]);
  const made = await client.callTool({
    name: "exec",
    arguments: { op: "shop.order.create", args: { customer: "Bob", cents: 100 } },
  });
  expect(made.content).toMatchObject([{ type: "text", text: expect.stringContaining('"id":2') }]);
  const { pid } = transport;
  await client.close();
  expect(() => process.kill(pid!, 0)).toThrow(/ESRCH/);
});

test("keyhole serve --http shows its token once and stops on a signal", async () => {
  const child = spawn(process.execPath, [MAIN, "serve", "--http", ...CONFIG], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const lines = createInterface({ input: child.stderr })[Symbol.asyncIterator]();
  /** The first of the lines to come that has this text; notices of sources may stand between them. */
  const next = async (wanted: RegExp): Promise<string> => {
    const { value, done } = await lines.next();
    return done ? "" : (wanted.exec(value)?.[0] ?? next(wanted));
  };
  const url = await next(/http:\S+/);
  const token = await next(/kh_\S+/);
  const post = (authorization: string) =>
    fetch(url, {
      method: "POST",
      headers: {
        authorization,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
    });
  const answered = await post(`Bearer ${token}`);
  expect(answered.status).toBe(200);
  await answered.text();
  expect((await post("Bearer wrong")).status).toBe(401);
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
});

test.each([
  [["serve", "--config", "missing.ts"], /CONFIG_INVALID.*does not exist/],
  [["serve", "--no-daemon", "--config", "package.json"], /CONFIG_INVALID/],
  [["serve", "--colour"], /INVALID_INPUT.*--colour/],
  [["serve", "--surface", "other", ...CONFIG], /INVALID_INPUT.*--surface/],
  [["nothing"], /Usage: keyhole/],
])("keyhole %j fails and says why", async (args, reason) => {
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  let errors = "";
  child.stderr.on("data", (chunk) => {
    errors += chunk;
  });
  const [code] = await once(child, "close");
  expect(code).toBeGreaterThan(0);
  expect(errors).toMatch(reason);
});

test("keyhole serve --trust starts no server whose listing is cached", async () => {
  const folder = temporaryFolder();
  const started = join(folder, "started");
  const upstream = join(folder, "upstream.mjs");
  writeFileSync(
    upstream,
    `import { appendFileSync } from "node:fs"; appendFileSync(${JSON.stringify(started)}, "x");
    await import(${JSON.stringify(resolve("bench/overhead/echo-server.ts"))});`,
  );
  const config = join(folder, "mcp.json");
  const server = { command: process.execPath, args: [upstream, "stdio", "0"] };
  writeFileSync(config, JSON.stringify({ mcpServers: { echo: server } }));
  const env = { ...process.env, HOME: folder, XDG_CACHE_HOME: folder } as Record<string, string>;
  const listOnce = async () => {
    const args = [MAIN, "serve", "--no-daemon", "--trust", "--config", config];
    const transport = new StdioClientTransport({ command: process.execPath, args, env, stderr: "pipe" });
    let told = "";
    transport.stderr?.on("data", (chunk) => {
      told += chunk;
    });
    // A client that negotiates the protocol starts Keyhole once more to ask it, and that one starts the server, too.
    const client = new Client({ name: "test", version: "1" });
    await client.connect(transport);
    const { content } = await client.callTool({ name: "help", arguments: { path: "echo" } });
    await client.close();
    expect(told).not.toContain("has to consent");
    return JSON.stringify(content);
  };
  expect(await listOnce()).toContain("echo");
  expect(readFileSync(started, "utf8")).toBe("x");
  expect(await listOnce()).toContain("echo");
  expect(readFileSync(started, "utf8")).toBe("x");
});

test("keyhole serve without any config serves, and takes a server that is added later", async () => {
  const home = temporaryFolder();
  const env = programEnv(home);
  const args = [resolve(MAIN), "serve"];
  const transport = new StdioClientTransport({
    command: process.execPath,
    args,
    env,
    cwd: home,
    stderr: "pipe",
  });
  let told = "";
  transport.stderr?.on("data", (chunk) => {
    told += chunk;
  });
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: "auto" } });
  onTestFinished(() => client.close());
  await client.connect(transport);
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(["ask", "help", "get", "exec"]);
  const ask = async () =>
    JSON.stringify((await client.callTool({ name: "ask", arguments: { query: "sums" } })).content);
  expect(await ask()).toContain("The catalog is empty");
  expect(told).toContain("Keyhole has no servers yet.");
  mkdirSync(join(home, ".keyhole"));
  const sums = { command: process.execPath, args: [resolve("src/testing/chaos-upstream.ts")] };
  writeFileSync(join(home, ".keyhole/settings.json"), JSON.stringify({ mcpServers: { sums } }));
  await eventually(async () => expect(await ask()).toContain("sums"), 30_000);
});
