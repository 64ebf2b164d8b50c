import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { createMcpServer, type McpServerOptions } from "keyhole/mcp";
import { expect, onTestFinished, test } from "vitest";
import { connect, connectHttp, ERAS, type Era } from "./mcp/connect.ts";
import { programEnv } from "./program-env.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { type ChaosOptions, chaos, eventually, gatewayOf, PATIENT } from "./upstream-kit.ts";

const CHAOS = resolve("src/testing/chaos-upstream.ts");

/** Serves a good server and one that never answers, by the program, to a client of that revision. */
async function serve(era: Era) {
  const folder = temporaryFolder();
  const config = join(folder, "mcp.json");
  const server = (...words: string[]) => ({ command: process.execPath, args: [CHAOS, ...words] });
  writeFileSync(config, JSON.stringify({ mcpServers: { good: server(), files: server("silent") } }));
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [
      resolve("src/program/main.ts"),
      "serve",
      "--no-daemon",
      "--trust",
      "--allow-write",
      "--config",
      config,
    ],
    env: programEnv(folder),
    stderr: "pipe",
  });
  const mode = era === "2026-07-28" ? { pin: era } : ("legacy" as const);
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  onTestFinished(() => client.close());
  await client.connect(transport);
  const call = async (name: string, args: Record<string, unknown>) =>
    JSON.stringify((await client.callTool({ name, arguments: args })).content);
  return { client, call };
}

test.each(ERAS)("a server that never answers holds nothing back for a client of %s", async (era) => {
  const { client, call } = await serve(era);
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(["ask", "help", "get", "exec"]);
  // Once it has failed, it is no longer said to be starting: everything so far came before that.
  expect(await call("ask", { query: "add two numbers" })).toContain("files is still starting");
  expect(await call("exec", { op: "good.add", args: { sum: 1 } })).toContain("sum");
});

/** A gateway with a server that never answers, and nobody waits for it. */
function openHung(options: ChaosOptions = {}) {
  const hung = chaos("files", { words: ["silent"], limits: { startingMs: 1 }, ...options });
  const gateway = gatewayOf([chaos("good"), hung]);
  onTestFinished(() => gateway.close());
  return gateway;
}

/** Serves a gateway whose good server and hung server are waited for longer than a test takes. */
function serveWaiting(options: McpServerOptions, words: readonly string[] = ["silent"]) {
  const gateway = gatewayOf([chaos("good"), chaos("files", { words })]);
  const server = createMcpServer(gateway, options);
  onTestFinished(async () => {
    await server.close();
    await gateway.close();
  });
  return server;
}

test.each(ERAS.flatMap((era) => [connect, connectHttp].map((open) => [era, open] as const)))(
  "a client of %s is greeted and shown the menu while servers start, with their names (%o)",
  async (era, open) => {
    const { client } = await open(serveWaiting({}), era);
    expect(client.getInstructions()).toContain("of files, good.");
    const { tools } = await client.listTools();
    expect(tools.find(({ name }) => name === "ask")?.description).toContain("files");
  },
);

test.each(ERAS)("a list of the tools of servers waits for them, for a client of %s", async (era) => {
  const { client } = await connect(serveWaiting({ surface: "native" }, []), era);
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain("files_add");
});

test("an ask names what is still starting, and says of no tool that it is not there", async () => {
  const gateway = openHung();
  const { text } = await gateway.ask({ query: "zebra" });
  expect(text).toContain("files is still starting");
  expect(text).not.toContain("Nothing here matches");
  expect((await gateway.ask({ query: "files" })).text).toContain("files is still starting");
  expect((await gateway.ask({ query: "add", domain: "good" })).text).not.toContain("still starting");
  expect(await gateway.sources.status("files")).toMatchObject({ count: 0, isFresh: false });
});

test("every source says which state it is in", async () => {
  const cacheDirectory = temporaryFolder();
  const options = { cacheDirectory };
  const first = gatewayOf([chaos("later", options)]);
  await first.sources.refresh("later");
  await first.close();
  const gateway = gatewayOf([
    chaos("good"),
    chaos("later", options),
    chaos("hung", { words: ["silent"], limits: { startingMs: 1 } }),
    chaos("dead", { words: ["exit"] }),
    chaos("strange", { mayStart: () => false }),
  ]);
  onTestFinished(() => gateway.close());
  const stateOf = async (id: string) => (await gateway.sources.status(id)).state;
  expect(await Promise.all(["good", "later", "hung", "strange"].map(stateOf))).toEqual([
    "listed",
    "kept",
    "starting",
    "waiting",
  ]);
  await eventually(async () => expect(await stateOf("dead")).toBe("failed"));
});

test("a principal that may not see a server does not hear that it is starting", async () => {
  const gateway = openHung({ scopes: ["office"] });
  expect((await gateway.ask({ query: "files" })).text).not.toContain("files is");
});

test("T12: a principal that may not see a server does not learn that it has failed", async () => {
  const gateway = openHung({ words: ["exit"], scopes: ["office"], limits: PATIENT });
  await gateway.ready();
  const stranger = { id: "stranger", scopes: [], allowWrite: false };
  const boss = { id: "boss", scopes: ["office"], allowWrite: false };
  const query = "zebra";
  expect((await gateway.ask({ query }, { principal: boss })).text).toContain(
    "Not available: files [server_down: it exited with code 3; it said: no config found].",
  );
  const { text } = await gateway.ask({ query }, { principal: stranger });
  expect(text).toContain("Nothing here matches");
  expect(text).not.toMatch(/files|Not available/);
});

test("a call waits for the server that it names", async () => {
  const gateway = openHung({ words: [] });
  expect(await gateway.exec({ op: "files.add", args: { sum: 1 } })).toMatchObject({ ok: true });
  expect((await gateway.ask({ query: "add" })).text).not.toContain("still starting");
});

test.each([connect, connectHttp])(
  "a tool that is not listed yet is called once its server has started (%o)",
  async (open) => {
    const server = createMcpServer(openHung({ words: [] }), { surface: "native" });
    onTestFinished(() => server.close());
    const { client } = await open(server, "2026-07-28");
    const answer = await client.callTool({ name: "files_add", arguments: { sum: 1 } });
    expect(answer.isError ?? false).toBe(false);
  },
);

test("a call of a server that has failed to start says so", async () => {
  const gateway = openHung({ words: ["exit"] });
  const refused = await gateway.exec({ op: "files.add", args: {} });
  expect(refused).toMatchObject({ ok: false, error: { code: "UNAVAILABLE" } });
  expect(refused.text).toContain("no config found");
});
