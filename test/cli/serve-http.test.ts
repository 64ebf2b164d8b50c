import { spawn } from "node:child_process";
import { expect, onTestFinished, test } from "vitest";
import { programEnv } from "../program-env.ts";
import { chaos, MAIN, openProgram } from "../threats/program.ts";

test("the address, the token and the console's link end the start, once; a failure is told once with a time", async () => {
  const { home, folder, write } = openProgram();
  const broken = { command: process.execPath, args: ["-e", "process.exit(3)"] };
  const config = write("mcp.json", { mcpServers: { broken, works: chaos() } });
  const child = spawn(process.execPath, [MAIN, "serve", "--http", "--trust", "--config", config], {
    cwd: folder,
    env: programEnv(home),
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let printed = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => {
      printed += chunk;
    });
  await expect.poll(() => printed, { timeout: 30_000 }).toContain("Console, opens once: ");
  const [log = "", end = "", ...others] = printed.split("\n\n");
  expect(others).toEqual([]);
  expect(end.trimEnd().split("\n")).toEqual([
    expect.stringMatching(/^Keyhole listens at http:\S+\/mcp$/),
    expect.stringMatching(/^Token, shown once: kh_\S+$/),
    expect.stringMatching(/^Console, opens once: http:\S+$/),
  ]);
  expect(log).not.toContain("http://");
  for (const line of log.split("\n")) expect(line).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ keyhole \w+: /);
  await expect.poll(() => printed, { timeout: 20_000 }).toContain("exited with code 3");
  const failures = () => printed.split("\n").filter((line) => line.includes("exited with code 3"));
  expect(failures()).toHaveLength(1);
  expect(failures()[0]!.match(/\bbroken\b/g)).toHaveLength(1);
  // The server is tried again after a second, then after two.
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  expect(failures()).toHaveLength(1);
});
