import { resolve } from "node:path";
import { expect, onTestFinished } from "vitest";
import { eventually } from "../upstream-kit.ts";
import type { Program } from "./program.ts";

const SHELL = resolve("test/threats/shell-upstream.ts");

/** Starts the hostile server as `keyhole serve` does. Returns a way to run commands in it. */
export async function serveHostile(program: Program, more: object = {}, ...args: string[]) {
  const hostile = { command: process.execPath, args: [SHELL, ...args], ...more };
  const config = program.write("mcp.json", { mcpServers: { hostile } });
  const call = await program.serve("--trust", "--allow-write", "--config", config);
  onTestFinished(async () => void (await program.keyhole("serve", "--stop")));
  const run = (command: string) => call("exec", { op: "hostile.run", args: { command } });
  await eventually(async () => expect(await run("echo ready")).toContain("ready"), 20_000);
  return run;
}
