import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { programEnv } from "../program-env.ts";
import { chaos, listedHash, MAIN, openProgram } from "../threats/program.ts";

/** More than the 64 KiB that a pipe holds while nobody reads it. */
const LONG = "A long word about adding. ".repeat(3_500);

test("a command that fails after a long list loses none of it, however slowly the list is read", async () => {
  const { home, folder, write, keyhole } = openProgram();
  write("mcp.json", { mcpServers: { sums: chaos({ CHAOS_DESCRIPTION: LONG }) } });
  const args = ["approve", "sums", "--config", "mcp.json"];
  const { out: program } = await keyhole(...args);
  await keyhole(...args, "--hash", listedHash(program));

  const stdio = ["ignore", "pipe", "ignore"] as const;
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: folder,
    env: programEnv(home),
    stdio: [...stdio],
  });
  await sleep(3_000);
  const listed = await text(child.stdout!);
  expect(listed.length).toBeGreaterThan(65_536);
  expect(listedHash(listed)).toMatch(/^[0-9a-f]{16}$/);
});
