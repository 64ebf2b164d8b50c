import { spawn } from "node:child_process";
import { once } from "node:events";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createMcpServer } from "keyhole/mcp";
import type { McpSource } from "keyhole/sources";
import { expect, onTestFinished } from "vitest";
import { watchConfig } from "../src/program/open/open-config.ts";
import { readJsonConfig } from "../src/program/open/read-json-config.ts";
import { verifies } from "./claims.ts";
import { connect } from "./mcp/connect.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { eventually, gatewayOf } from "./upstream-kit.ts";

const CHAOS = resolve("src/testing/chaos-upstream.ts");

function server(description = "Adds two numbers."): object {
  return { command: process.execPath, args: [CHAOS], env: { CHAOS_DESCRIPTION: description } };
}

function write(path: string, servers: Record<string, object>): void {
  writeFileSync(path, `// Servers.\n${JSON.stringify({ mcpServers: servers }, undefined, 2)}`);
}

/** Follows a config with a gateway, under constant calls. */
async function follow(path: string) {
  const options = { trusted: true, cacheDirectory: join(temporaryFolder(), "listings") };
  const first = await readJsonConfig(path, options);
  const gateway = gatewayOf(first);
  const reports: string[] = [];
  const stop = watchConfig(
    path,
    async () => gateway.sources.set(await readJsonConfig(path, options)),
    (error) => reports.push(String(error)),
    5,
  );
  await gateway.ready();

  const calls = { made: 0, failed: [] as unknown[], over: false };
  const calling = (async () => {
    while (!calls.over) {
      const answer = await gateway.exec({ op: "steady.add", args: { a: calls.made } });
      if (!answer.ok) calls.failed.push(answer.error);
      calls.made += 1;
      await new Promise(setImmediate);
    }
  })();
  onTestFinished(async () => {
    calls.over = true;
    await calling;
    stop();
    await gateway.close();
  });
  const source = (label: string) => first.find(({ id }) => id === `mcp:${label}`) as McpSource;
  return { gateway, reports, calls, source };
}

verifies(
  ["lifecycle:config-edit", "reload-invalid"],
  "500 saves of broken files change nothing",
  async () => {
    const path = join(temporaryFolder(), "mcp.json");
    write(path, { steady: server(), other: server() });
    const { gateway, reports, calls, source } = await follow(path);
    const { version } = gateway;
    const before = [source("steady").diagnostics(), source("other").diagnostics()].map(({ pid }) => pid);
    const whole = JSON.stringify(
      { mcpServers: { steady: server(), other: server("Changed.") } },
      undefined,
      2,
    );
    const garbage = [
      "",
      "{",
      "\u0000\u0001",
      "[[[[",
      '{"mcpServers": 5}',
      '{"mcpServers": {"a": {"comand": "x"}}}',
    ];
    for (let save = 0; save < 500; save += 1) {
      const half = whole.slice(0, 1 + ((save * 7) % (whole.length - 2)));
      const text = save % 2 ? half : garbage[(save / 2) % garbage.length]!;
      if (save % 5 === 0) rmSync(path, { force: true });
      if (save % 3 === 0) {
        writeFileSync(`${path}.draft`, text);
        renameSync(`${path}.draft`, path);
      } else writeFileSync(path, text);
      await new Promise((done) => setTimeout(done, save % 4));
    }
    await eventually(() => expect(reports.length).toBeGreaterThan(5));
    expect(reports.join("\n")).toMatch(/mcp\.json:\d+:\d+ cannot be used/);
    expect(calls.failed).toEqual([]);
    expect(gateway.version).toBe(version);
    const after = [source("steady").diagnostics(), source("other").diagnostics()].map(({ pid }) => pid);
    expect(after).toEqual(before);

    write(path, { steady: server(), other: server("Changed.") });
    await eventually(async () => {
      const { text } = await gateway.ask({ query: "other.add" });
      expect(text).toContain("Changed.");
    });
    expect(calls.failed).toEqual([]);
    expect(calls.made).toBeGreaterThan(50);
  },
);

verifies(
  ["lifecycle:config-edit", "reload-valid"],
  "an edit starts and stops only the servers it concerns, and is announced once",
  async () => {
    const path = join(temporaryFolder(), "mcp.jsonc");
    write(path, { steady: server(), edited: server(), gone: server() });
    const { gateway, reports, calls, source } = await follow(path);
    const mcp = createMcpServer(gateway);
    onTestFinished(() => mcp.close());
    const heard: string[] = [];
    const onChanged = { autoRefresh: false, debounceMs: 0, onChanged: () => void heard.push("tools") };
    const { client } = await connect(mcp, "2025-11-25", { listChanged: { tools: onChanged } });
    await client.listTools();
    const [steady, edited, gone] = [source("steady"), source("edited"), source("gone")];
    const { pid } = steady.diagnostics();

    write(path, { steady: server(), edited: server(), fresh: server(), gone: server() });
    await eventually(async () =>
      expect(await gateway.exec({ op: "fresh.add", args: { b: 1 } })).toMatchObject({ ok: true }),
    );
    await eventually(() => expect(heard).toEqual(["tools"]));

    write(path, { steady: server(), edited: server("Adds three numbers."), fresh: server() });
    await eventually(async () =>
      expect((await gateway.ask({ query: "edited.add" })).text).toContain("three"),
    );
    expect(await gateway.exec({ op: "gone.add", args: {} })).toMatchObject({ error: { code: "NOT_FOUND" } });
    await eventually(() =>
      expect([edited, gone].map((one) => one.diagnostics().connected)).toEqual([false, false]),
    );
    expect(steady.diagnostics()).toMatchObject({ pid, starts: 1 });
    expect(reports).toEqual([]);
    expect(calls.failed).toEqual([]);
  },
);

verifies(
  ["lifecycle:config-edit", "reload-invalid"],
  "a mistake is reported with file, line, column and the nearest key",
  async () => {
    const path = join(temporaryFolder(), "mcp.json");
    const wrong: [string, string][] = [
      ['{\n  "mcpServer": {}\n}', ':2:3 cannot be used: "mcpServer" is not known'],
      [
        '{\n  "servers": {\n    "a": { "comand": "x" }\n  }\n}',
        ':3:12 cannot be used: the server "a": it has neither',
      ],
      ['{\n  "servers": {\n    "a": { "comand": "x" }\n  }\n}', 'the field nearest to "comand" is command'],
      ['{\n  "servers": {\n    "a": { "command": "x", "args": "y" }\n  }\n}', ":3:5 cannot be used"],
      ['{ "servers": { "a": ', ":1:"],
      ["[]", ":1:1 cannot be used: it has neither"],
    ];
    for (const [text, said] of wrong) {
      writeFileSync(path, text);
      await expect(readJsonConfig(path, {})).rejects.toThrow(said);
    }
    writeFileSync(
      path,
      '{ /* VS Code */ "servers": { "a b": { "command": "x", }, "off": { "disabled": true }, } }',
    );
    expect((await readJsonConfig(path, {})).map(({ id }) => id)).toEqual(["mcp:a-b"]);
  },
);

verifies("lifecycle:config-edit", "keyhole serve accepts a JSON config and follows it", async () => {
  const folder = temporaryFolder();
  const path = join(folder, "mcp.json");
  write(path, { tasks: server() });
  const child = spawn(
    process.execPath,
    ["src/program/main.ts", "serve", "--trust", "--http", "--config", path],
    {
      stdio: ["ignore", "ignore", "pipe"],
      env: {
        ...process.env,
        XDG_CACHE_HOME: folder,
        XDG_STATE_HOME: folder,
        KEYHOLE_TOKEN: "a-token-of-the-test",
      },
    },
  );
  let said = "";
  child.stderr.on("data", (chunk) => {
    said += chunk;
  });
  onTestFinished(async () => {
    child.kill("SIGTERM");
    await once(child, "exit");
  });
  await eventually(() => expect(said).toContain("http://"), 30_000);
  const [url = ""] = said.match(/http:\S+/) ?? [];
  const ask = async (query: string) => {
    const answer = await fetch(url, {
      method: "POST",
      headers: {
        authorization: "Bearer a-token-of-the-test",
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "ask", arguments: { query } },
      }),
    });
    return answer.text();
  };
  await eventually(async () => expect(await ask("tasks.add")).toContain("tasks://tools/add"), 30_000);
  writeFileSync(path, '{ "mcpServers": { "tasks": {');
  await eventually(
    () => expect(said).toMatch(/mcp\.json:1:\d+ cannot be used.*The last good config stays/),
    30_000,
  );
  expect(await ask("tasks.add")).toContain("tasks://tools/add");
  write(path, { tasks: server(), more: server(), other: server("Another program.") });
  await eventually(async () => expect(await ask("more.add")).toContain("more://tools/add"), 30_000);
  expect(await ask("other server")).toContain("a person has to approve what it runs");
});
