import { cpSync, mkdirSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { isolationMissing } from "../bubblewrap.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { agree, openProgram, type Program } from "./program.ts";

const isMissing = (await isolationMissing()) !== undefined;
const entities = [{ name: "Ada", entityType: "person", observations: ["writes programs"] }];

/** Approves the program, then the tools that it lists, with the limits that are proposed. */
async function approve(program: Program, config: string): Promise<void> {
  await agree(program, "memory", "--config", config);
  await agree(program, "memory", "--config", config);
}

/** The memory server as npm installs it. Without a setting it keeps its file beside its code. */
function installMemory(): string {
  const modules = join(temporaryFolder(), "node_modules");
  mkdirSync(join(modules, "@modelcontextprotocol"), { recursive: true });
  const parts = ["@modelcontextprotocol/sdk", "zod"];
  for (const part of parts) symlinkSync(resolve("node_modules", part), join(modules, part));
  const server = "@modelcontextprotocol/server-memory";
  cpSync(resolve("node_modules", server), join(modules, server), { recursive: true });
  return join(modules, server, "dist");
}

test.skipIf(isMissing)("T7: a write that the sandbox denies is told with the way to allow it", async () => {
  const program = openProgram();
  const folder = installMemory();
  const memory = { command: process.execPath, args: [join(folder, "index.js")] };
  const config = program.write("mcp.json", { mcpServers: { memory } });
  await approve(program, config);

  const call = await program.serve("--config", config, "--allow-write");
  const denied = await call("exec", { op: "memory.create_entities", args: { entities } });
  expect(denied).toContain(
    `SANDBOX_DENIED: The sandbox of the server memory keeps it from writing ${folder}/`,
  );
  expect(denied).toContain("keyhole approve memory");

  const shown = await program.keyhole("approve", "memory", "--config", config);
  // A long line is folded.
  expect(shown.out.replace(/\n */g, "")).toMatch(new RegExp(`writes .*${folder}`));
  await agree(program, "memory", "--config", config);
  const kept = await program.serve("--config", config, "--allow-write");
  expect(await kept("exec", { op: "memory.create_entities", args: { entities } })).toContain("Ada");
});

test.skipIf(isMissing)(
  "T7: a denied write names the config if a person has written the limits there",
  async () => {
    const program = openProgram();
    const folder = installMemory();
    const memory = { command: process.execPath, args: [join(folder, "index.js")], sandbox: {} };
    const config = program.write("mcp.json", { mcpServers: { memory } });
    await approve(program, config);
    const call = await program.serve("--config", config, "--allow-write");
    const denied = await call("exec", { op: "memory.create_entities", args: { entities } });
    expect(denied).toContain(`add its folder to "sandbox": { "folders": [] } of memory`);
  },
);
