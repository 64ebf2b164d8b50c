import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { openProgram } from "../threats/program.ts";
import { tmuxMissing } from "../tmux.ts";

const CHAOS = resolve("src/testing/chaos-upstream.ts");

/** A config whose server writes a line whenever it starts. */
function setUp() {
  const program = openProgram();
  const starts = join(program.folder, "starts.txt");
  const start = `echo started >> '${starts}'; exec '${process.execPath}' '${CHAOS}'`;
  const config = program.write("mcp.json", { mcpServers: { chaos: { command: "sh", args: ["-c", start] } } });
  return {
    program,
    trusted: ["--config", config, "--trust"],
    started: () => readFileSync(starts, "utf8").match(/started/g)?.length,
  };
}

test("a command that runs once uses the servers of the daemon, with its own rights", async () => {
  const { program, trusted, started } = setUp();
  const call = await program.serve(...trusted);
  expect(await call("exec", { op: "chaos.add", args: { sum: 1 } })).toContain("PERMISSION_DENIED");

  const found = await program.keyhole("ask", "add two numbers", ...trusted);
  expect(found).toMatchObject({ code: 0, out: expect.stringMatching(/^1\. chaos\.add/) });
  const shown = await program.keyhole("show", "chaos.add", ...trusted);
  expect(shown).toMatchObject({ code: 0, out: expect.stringContaining("chaos.add") });
  const refused = await program.keyhole("call", "chaos.add", "sum=2", ...trusted);
  expect(refused).toMatchObject({ code: 1, out: expect.stringContaining("Add --allow-write to allow it") });
  const added = await program.keyhole("call", "chaos.add", "sum=2", "--allow-write", ...trusted);
  expect(added).toMatchObject({ code: 0, out: expect.stringContaining('"sum":2') });
  const missing = await program.keyhole("call", "chaos.nothing", "--allow-write", ...trusted);
  expect(missing).toMatchObject({ code: 1, out: expect.stringContaining("NOT_FOUND") });
  expect(started()).toBe(1);

  await program.keyhole("serve", "--stop");
});

test("without a daemon, a command that runs once starts none", async () => {
  const { program, trusted } = setUp();
  const added = await program.keyhole("call", "chaos.add", "sum=2", "--allow-write", ...trusted);
  expect(added).toMatchObject({ code: 0, out: expect.stringContaining('"sum":2') });
  expect((await program.keyhole("serve", "--stop")).out).toBe("No daemon runs.\n");
});

test.skipIf(tmuxMissing() !== undefined)(
  "a call through the daemon asks its person in the terminal",
  { retry: 2 },
  async () => {
    const { program, trusted } = setUp();
    await program.serve(...trusted);
    const terminal = program.terminal("call", "chaos.add", "sum=3", ...trusted);
    await terminal.sees("Run chaos.add with exactly this? [y/N]");
    terminal.type("y");
    terminal.press("Enter");
    await terminal.sees('"sum":3');
    await terminal.ends();
    await program.keyhole("serve", "--stop");
  },
);
