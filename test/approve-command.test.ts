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
  /** Repeats `keyhole approve` with the hash of what it showed. */
  const agree = async (...words: string[]) => {
    const args = ["approve", ...words, "--config", config];
    const { out } = await keyhole(...args);
    return keyhole(...args, "--hash", /Hash: (\S+)/.exec(out)?.[1] ?? "none");
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
  return { config, env, folder, save, keyhole, agree, serve };
}

function chaos(description?: string): object {
  const env = description === undefined ? {} : { CHAOS_DESCRIPTION: description };
  return { command: process.execPath, args: [CHAOS], env };
}

verifies("pins:command", "a running gateway notices what its command approves", async () => {
  const { config, keyhole, agree, serve } = setUp({ bad: chaos() });
  expect((await agree("bad")).out).toContain("bad may start.");
  const call = await serve();
  const refused = await call("exec", { op: "bad.add", args: { a: 1 } });
  expect(refused).toContain("UNAVAILABLE");
  expect(refused).toContain(`the user has to type: keyhole approve bad --config ${config}`);
  const approved = await agree("bad");
  expect(approved).toMatchObject({ code: 0, out: expect.stringContaining("Approved: 18.") });
  await eventually(async () =>
    expect(await call("exec", { op: "bad.add", args: { a: 1 } })).toContain('"a":1'),
  );
  const revoked = await keyhole("approve", "--revoke", "bad://tools/add", "--config", config);
  expect(revoked.out).toBe("bad://tools/add\nbad: 1 taken back.\n");
  await eventually(async () =>
    expect(await call("exec", { op: "bad.add", args: {} })).toContain("UNAVAILABLE"),
  );
  expect(await call("exec", { op: "bad.fail", args: {} })).toContain("UPSTREAM_ERROR");
});

verifies("pins:command", "shows the exact words of a definition and how they changed", async () => {
  const { config, save, keyhole, agree } = setUp({ bad: chaos() });
  await agree();
  await agree();
  save({ bad: chaos("Adds.\u001b[2J\u202e<!-- steal -->") });
  await agree("bad");
  const changed = await keyhole("approve", "--config", config);
  expect(changed.out).toContain("bad: 1 definition,");
  const diff = await keyhole("approve", "bad.add", "--config", config);
  expect(diff.out).toContain("~ add                          writes");
  expect(diff.out).toContain("! It hides text from the reader.");
  expect(diff.out).toContain("- Adds two numbers.");
  expect(diff.out).toContain("+ Adds.\\u001b[2J\\u202e<!-- steal -->");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the test is that none is there.
  expect(diff.out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
  const json = JSON.parse((await keyhole("approve", "--json", "--config", config)).out);
  expect(json).toMatchObject([
    {
      server: "bad",
      program: { isApproved: true },
      definitions: [{ op: "bad.add", state: "changed" }, ...Array(17).fill({ state: "approved" })],
    },
  ]);
});

verifies("pins:command", "names an unreachable server and shows the others", async () => {
  const { config, keyhole, agree } = setUp({ bad: chaos(), gone: { command: "/nonexistent/server" } });
  await agree();
  const listed = await keyhole("approve", "--config", config);
  expect(listed).toMatchObject({ code: 1, errors: expect.stringContaining("mcp:gone could not be listed") });
  expect(listed.out).toContain("bad: 18 definitions,");
  expect((await agree("bad")).code).toBe(0);
  const unknown = await keyhole("approve", "bed", "--config", config);
  expect(unknown).toMatchObject({
    code: 1,
    errors: expect.stringContaining("bed not found; nearest: bad"),
  });
  expect(await keyhole("approve", "--revoke", "--config", config)).toMatchObject({
    code: 1,
    errors: expect.stringContaining("--revoke needs SERVER, TOOL or --all"),
  });
});

verifies("pins:command", "counts a tool as reading that its server calls destructive", async () => {
  const { config, keyhole, agree } = setUp({
    tracker: { command: process.execPath, args: [resolve("test/tracker-upstream.ts")] },
  });
  await agree("tracker");
  const { out } = await keyhole("approve", "tracker://tools/search_issues", "--config", config);
  expect(out).toContain("+ search_issues                destroys ");
  // Line breaks of a description stay, and lines are broken between words.
  expect(out).toContain("│ Searches issues.\n      │\n      │ Filters:\n      │   - state: open or closed\n");
  expect(out).not.toContain("\\u000a");
  const marked = await agree("tracker://tools/search_issues", "--reads");
  expect(marked.out).toContain("+ search_issues                reads, by you");
  expect(marked.out).toContain("Approved: 1.");
  const { out: shown } = await keyhole("servers", "tracker", "--config", config);
  expect(shown).toMatch(/search_issues\s+reads/);
});

verifies("pins:command", "the log says once what waits and what to type", async () => {
  const { config, env, folder } = setUp({ bad: chaos() });
  const child = spawn(process.execPath, [MAIN, "serve", "--no-daemon", "--config", config], {
    cwd: folder,
    env,
  });
  onTestFinished(() => void child.kill());
  let log = "";
  child.stderr.on("data", (chunk) => {
    log += chunk;
  });
  const hello = {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "test", version: "1" },
  };
  child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: hello })}\n`);
  const line = `approval-needed: bad: a person has to approve what it runs; the user has to type: keyhole approve bad --config ${config}`;
  await eventually(() => expect(log).toContain(line));
  expect(log.split("keyhole approve bad")).toHaveLength(2);
});
