import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect } from "vitest";
import { verifies } from "../claims.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const INSPECTOR = "@modelcontextprotocol/inspector@2.12.0";
const FETCH_MS = 60_000;

/** Runs a program to its end and returns its output, or why there is none. */
async function run(cwd: string, command: string, args: readonly string[], ms: number) {
  const child = spawn(command, args, {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
    env: { ...process.env, MCP_INSPECTOR_SECRET_STORE: "memory" },
  });
  const timer = setTimeout(() => process.kill(-child.pid!, "SIGKILL"), ms);
  const output = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk) => {
    output.stdout += chunk;
  });
  child.stderr.on("data", (chunk) => {
    output.stderr += chunk;
  });
  const { promise, resolve: end } = Promise.withResolvers<number | null>();
  child.on("close", end);
  child.on("error", () => end(null));
  const code = await promise;
  clearTimeout(timer);
  return { code, ...output };
}

verifies("mcp:real-clients", "the official Inspector lists tools, asks, reads and runs", async ({ skip }) => {
  const folder = temporaryFolder();
  const npx = ["--yes", INSPECTOR, "--cli"];
  const fetched = await run(folder, "npx", [...npx, "--version"], FETCH_MS);
  if (fetched.code !== 0) {
    const why = fetched.stderr.trim().split("\n").at(-1) || `no answer within ${FETCH_MS} ms`;
    console.warn(`skipped: npx cannot run ${INSPECTOR}: ${why}`);
    skip();
  }

  const args = [resolve("src/program/main.ts"), "serve", "--allow-write"];
  const config = ["--config", resolve("examples/mcp/keyhole.config.ts")];
  const servers = { keyhole: { command: process.execPath, args: [...args, ...config] } };
  writeFileSync(join(folder, "mcp.json"), JSON.stringify({ mcpServers: servers }));
  async function inspect(...call: string[]) {
    const server = ["--config", "mcp.json", "--server", "keyhole"];
    const { code, stdout, stderr } = await run(folder, "npx", [...npx, ...server, ...call], FETCH_MS);
    expect([code, code === 0 ? "" : stderr]).toEqual([0, ""]);
    return JSON.parse(stdout);
  }
  const call = (name: string, ...given: string[]) =>
    inspect("--method", "tools/call", "--tool-name", name, "--tool-arg", ...given);

  const { tools } = await inspect("--method", "tools/list", "--strict");
  expect(tools.map((tool: { name: string }) => tool.name)).toEqual(["ask", "help", "get", "exec"]);
  const found = await call("ask", "query=which orders are there");
  const route = /shop:\/\/tools\/order\/list/.exec(found.content[0].text)?.[0];
  const read = await call("get", `routes=${JSON.stringify([{ route }])}`);
  expect(read.content[0].text).toContain('"customer":"Ada"');
  const made = await call("exec", "op=shop.order.create", 'args={"customer":"Bob","cents":100}');
  expect(made.content[0].text).toContain('"id":2');
});
