import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, onTestFinished, test } from "vitest";
import { programEnv } from "../program-env.ts";
import { agree, chaos, MAIN, openProgram, type Program } from "../threats/program.ts";
import { eventually } from "../upstream-kit.ts";

const NODE = process.execPath;
const CRASH = 'console.error("Starting up");\nthrow new Error("API_KEY is missing");\n';
const CAUSES = [
  "absent [server_down: it cannot be started (ENOENT): no-such-program-here was not found]",
  "crash [server_down: it exited with code 1; it said: Error: API_KEY is missing]",
  "nobody [server_down: it cannot be reached (ECONNREFUSED): nothing listens at its url]",
  "unset [server_down: the variable NOT_SET_ANYWHERE is not set]",
];

/** A config of servers that fail in different ways, a good one, and those of the test. */
function failing(program: Program, servers: Record<string, object> = {}): string {
  return program.write("mcp.json", {
    mcpServers: {
      absent: { command: "no-such-program-here" },
      crash: { command: NODE, args: [program.write("crash.cjs", CRASH)] },
      nobody: { url: "http://127.0.0.1:9/mcp" },
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the config.
      unset: { command: NODE, args: ["-e", ""], env: { KEY: "${NOT_SET_ANYWHERE}" } },
      ...servers,
    },
  });
}

async function connect({ home, folder }: Program, config: string, ...flags: string[]): Promise<Client> {
  const client = new Client({ name: "test", version: "1" });
  const args = [MAIN, "serve", "--no-daemon", "--config", config, ...flags];
  await client.connect(
    new StdioClientTransport({ command: NODE, args, cwd: folder, env: programEnv(home), stderr: "ignore" }),
  );
  onTestFinished(() => client.close());
  return client;
}

async function ask(client: Client, args: Record<string, unknown>): Promise<string> {
  const { content } = await client.callTool({ name: "ask", arguments: args });
  return (content as { text: string }[])[0]?.text ?? "";
}

test("an ask in the terminal names the servers that failed, with the cause", async () => {
  const program = openProgram();
  const { code, out } = await program.keyhole(
    "ask",
    "create an issue",
    "--trust",
    "--config",
    failing(program),
  );
  expect(code).toBe(0);
  expect(out).toContain('Nothing so far matches "create an issue".');
  expect(out).toContain(`Not available: ${CAUSES.join(", ")}.`);
});

test("an ask over MCP names the servers that failed beside what it finds, within its budget", async () => {
  const program = openProgram();
  const refusing = createServer((_, response) => response.writeHead(401).end()).listen(0, "127.0.0.1");
  onTestFinished(() => void refusing.close());
  await once(refusing, "listening");
  const locked = { url: `http://127.0.0.1:${(refusing.address() as AddressInfo).port}/mcp` };
  const client = await connect(program, failing(program, { good: chaos(), locked }), "--trust");
  await eventually(async () => {
    const text = await ask(client, { query: "add two numbers" });
    expect(text).toContain("good://tools/add");
    expect(text).toContain(
      "Not available: locked [needs_login: it wants a login (HTTP 401); run: keyhole login locked --config ",
    );
    for (const cause of CAUSES) expect(text).toContain(cause);
  });
  const short = await ask(client, { query: "add two numbers", maxTokens: 64 });
  expect(short).toContain("good://tools/add");
  expect(short.length).toBeLessThan(400);
  expect(await ask(client, { query: "add", domain: "good" })).not.toContain("Not available");
  expect(await ask(client, { query: "add", domain: "crash" })).toContain(`Not available: ${CAUSES[1]}.`);
});

test("a server that never answers holds a command up for two seconds, not longer", async () => {
  const program = openProgram();
  const hung = { command: NODE, args: ["-e", "process.stdin.resume()"] };
  const config = program.write("mcp.json", { mcpServers: { good: chaos(), hung } });
  const started = performance.now();
  const asked = await program.keyhole("ask", "add two numbers", "--trust", "--config", config);
  expect(asked.out).toContain("hung is still starting.");
  expect(asked.out).toContain("good.add");
  expect(asked.errors).toContain("hung has not answered yet: this goes on without it.");
  const run = ["call", "good.add", "sum=3", "--allow-write", "--trust", "--config", config];
  expect(await program.keyhole(...run)).toMatchObject({ code: 0, out: expect.stringContaining("sum") });
  // The wait was 72 s for each command.
  expect(performance.now() - started).toBeLessThan(40_000);
  // A call of the server itself waits no longer either.
  const called = performance.now();
  const refused = await program.keyhole("call", "hung.add", "--trust", "--config", config);
  expect(refused).toMatchObject({ code: 1, out: expect.stringContaining("UNAVAILABLE: The server hung") });
  expect(performance.now() - called).toBeLessThan(9_000);
});

test("answers and instructions say what a person has to type for servers that wait", async () => {
  const program = openProgram();
  const names = ["one", "two", "three", "four", "five", "six", "seven"];
  const servers = Object.fromEntries(names.map((name) => [name, chaos()]));
  const config = program.write(`${"my-servers-".repeat(6)}mcp.json`, { mcpServers: servers });
  const command = `the user has to type: keyhole approve five --config ${config}]`;
  const waiting = await connect(program, config);
  expect(waiting.getInstructions()).toContain(command);
  const text = await ask(waiting, { query: "create an issue" });
  expect(text).toContain(
    `Not available: five [quarantined: a person has to approve what it runs; ${command}`,
  );
  expect(text).toContain(" and 2 more.");

  const help = await waiting.callTool({ name: "help", arguments: { path: "five" } });
  expect(JSON.stringify(help.content)).toContain(command);

  await agree(program, "five", "--config", config);
  await eventually(async () =>
    expect(await ask(waiting, { query: "create an issue", domain: "five" })).toContain(
      "its definition waits for a person's approval; the user has to type: keyhole approve five --config",
    ),
  );
});
