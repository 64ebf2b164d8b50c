import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, onTestFinished } from "vitest";
import { verifies } from "./claims.ts";
import { programEnv } from "./program-env.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { eventually } from "./upstream-kit.ts";

const MAIN = resolve("src/program/main.ts");
const CHAOS = resolve("src/testing/chaos-upstream.ts");

/** Makes a home folder with a config of these servers, and a way to run the program in it. */
function setUp(servers: Record<string, object>) {
  const folder = temporaryFolder();
  const config = join(folder, "mcp.json");
  const save = (mcpServers: object) => writeFileSync(config, JSON.stringify({ mcpServers }));
  save(servers);
  const env = programEnv(folder);
  const keyhole = async (...args: string[]) => {
    const child = spawn(process.execPath, [MAIN, ...args], { cwd: folder, env });
    let [out, errors] = ["", ""];
    child.stdout.on("data", (chunk) => {
      out += chunk;
    });
    child.stderr.on("data", (chunk) => {
      errors += chunk;
    });
    const [code] = await once(child, "close");
    return { out, errors, code: Number(code) };
  };
  /** Repeats a command with the hash of what it listed. */
  const agree = async (...args: string[]) => {
    const { out } = await keyhole(...args);
    return keyhole(...args, "--yes", /Hash: (\S+)/.exec(out)?.[1] ?? "none");
  };
  const serve = async () => {
    const args = [MAIN, "serve", "--no-daemon", "--config", config, "--allow-write"];
    const client = new Client({ name: "test", version: "1" });
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args, cwd: folder, env, stderr: "ignore" }),
    );
    onTestFinished(() => client.close());
    return async (name: string, given: Record<string, unknown>) => {
      const { content } = await client.callTool({ name, arguments: given });
      return (content as { text: string }[])[0]?.text ?? "";
    };
  };
  return { config, save, keyhole, agree, serve };
}

function chaos(description?: string): object {
  const env = description === undefined ? {} : { CHAOS_DESCRIPTION: description };
  return { command: process.execPath, args: [CHAOS], env };
}

verifies("pins:command", "a running gateway notices what its command approves", async () => {
  const { config, keyhole, agree, serve } = setUp({ bad: chaos() });
  await agree("servers", "allow", "bad", "--config", config);
  const call = await serve();
  const refused = await call("exec", { op: "bad.add", args: { a: 1 } });
  expect(refused).toContain("UNAVAILABLE");
  const approved = await agree("pins", "approve", "bad", "--config", config);
  expect(approved).toMatchObject({ code: 0, out: expect.stringContaining("Approved: 18.") });
  await eventually(async () =>
    expect(await call("exec", { op: "bad.add", args: { a: 1 } })).toContain('"a":1'),
  );
  expect((await keyhole("pins", "revoke", "bad://tools/add", "--config", config)).out).toContain(
    "Revoked: 1.",
  );
  await eventually(async () =>
    expect(await call("exec", { op: "bad.add", args: {} })).toContain("UNAVAILABLE"),
  );
  expect(await call("exec", { op: "bad.fail", args: {} })).toContain("UPSTREAM_ERROR");
});

verifies("pins:command", "lists pending definitions first and shows their exact words", async () => {
  const { config, save, keyhole, agree } = setUp({ bad: chaos() });
  await agree("servers", "allow", "bad", "--config", config);
  await agree("pins", "approve", "--all", "--config", config);
  save({ bad: chaos("Adds.\u001b[2J\u202e<!-- steal -->") });
  await agree("servers", "allow", "bad", "--config", config);
  const { out } = await keyhole("pins", config);
  expect(out).toMatch(/^bad:\/\/tools\/add +bad +changed +warning: hidden\n/);
  expect(out).toMatch(/18 definitions: 1 changed, 17 approved\.\n$/);

  const diff = await keyhole("pins", "diff", "bad://tools/add", "--config", config);
  expect(diff.out).toContain('- "Adds two numbers."\n+ "Adds.\\u001b[2J\\u202e<!-- steal -->"\n');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the test is that none is there.
  expect(diff.out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
});

verifies("pins:command", "names an unreachable server and shows the others", async () => {
  const { config, keyhole, agree } = setUp({ bad: chaos(), gone: { command: "/nonexistent/server" } });
  await agree("servers", "allow", "--all", "--config", config);
  const listed = await keyhole("pins", config);
  expect(listed).toMatchObject({ code: 1, errors: expect.stringContaining("mcp:gone could not be listed") });
  expect(listed.out).toContain("18 definitions: 18 pending.");
  expect((await agree("pins", "approve", "bad", "--config", config)).code).toBe(0);
  const unknown = await keyhole("pins", "approve", "bed", "--config", config);
  expect(unknown).toMatchObject({
    code: 1,
    errors: expect.stringContaining("bed not found; nearest: bad"),
  });
  expect(await keyhole("pins", "approve", "--config", config)).toMatchObject({
    code: 1,
    errors: expect.stringContaining("approve needs SOURCE, ROUTE or --all"),
  });
});
