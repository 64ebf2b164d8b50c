import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
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

  const slowly = `"${process.execPath}" "${MAIN}" ${args.join(" ")} 2>/dev/null | (sleep 3; cat)`;
  const child = spawn("sh", ["-c", slowly], {
    cwd: folder,
    env: programEnv(home),
    stdio: ["ignore", "pipe", "ignore"],
  });
  const listed = await text(child.stdout);
  expect(listed.length).toBeGreaterThan(65_536);
  expect(listedHash(listed)).toMatch(/^[0-9a-f]{16}$/);
});
