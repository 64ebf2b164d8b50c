import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { verifies } from "../../../test/claims.ts";
import { openWorkspace } from "../../../test/open-workspace.ts";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import { createPermissions } from "../permissions/permissions.ts";

function setUp(environment: Record<string, string> = {}) {
  const root = temporaryFolder();
  const permissions = createPermissions({ root, ask: async () => "once" });
  return { root, workspace: openWorkspace({ permissions, environment }) };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return !stat.slice(stat.lastIndexOf(")") + 2).startsWith("Z");
  } catch {
    return false;
  }
}

async function pidIn(file: string): Promise<number> {
  return vi.waitFor(() => {
    const pid = Number(readFileSync(file, "utf8"));
    expect(pid).toBeGreaterThan(0);
    return pid;
  }, 10_000);
}

test("a command gives what it wrote and how it ended", async () => {
  const { workspace, root } = setUp();
  const command = "for i in 1 2 3 4 5 6 7 8; do echo out $i; echo err $i >&2; done; pwd";
  const lines = [1, 2, 3, 4, 5, 6, 7, 8].flatMap((at) => [`out ${at}`, `err ${at}`]);
  expect(await workspace.shell({ command })).toMatchObject({ text: [...lines, root].join("\n") });
  expect(await workspace.shell({ command: `${command}; exit 3` })).toEqual({
    success: false,
    error: "COMMAND_FAILED",
    message: ["exit code 3", ...lines, root].join("\n"),
  });
  expect(await workspace.shell({ command: "kill -9 $$" })).toMatchObject({
    message: "killed by SIGKILL\n[no output]",
  });
});

test("a failure keeps the end of a long output, and a little of its beginning", async () => {
  const { workspace } = setUp();
  const response = await workspace.shell({ command: "echo first; seq 100000; echo FAILED; exit 1" });
  if (response.success) expect.fail("It succeeded.");
  expect(response.message).toMatch(/^exit code 1\nfirst\n1\n/);
  expect(response.message).toMatch(/characters left out …\n[\s\S]*\n100000\nFAILED$/);
  expect(response.message.length).toBeLessThan(17_000);
});

test("a long output keeps its beginning and its end", async () => {
  const { workspace } = setUp();
  const response = await workspace.shell({ command: "echo first; yes | head -c 3000000; echo last" });
  if (!response.success) expect.fail(response.message);
  const { output, cutBytes } = response.result;
  expect(output.startsWith("first\n")).toBe(true);
  expect(output.endsWith("last\n")).toBe(true);
  expect(output.length).toBeLessThan(140_000);
  expect(cutBytes).toBe(3_000_011 - 128 * 1024);
});

test("a command sees the variables that it is given, and no others", async () => {
  vi.stubEnv("PLANTED_TOKEN", "planted");
  const { workspace } = setUp({ WANTED: "wanted" });
  const response = await workspace.shell({ command: "env" });
  vi.unstubAllEnvs();
  if (!response.success) expect.fail(response.message);
  expect(response.result.output).not.toContain("planted");
  expect(response.result.output).toContain("WANTED=wanted");
});

verifies("workspace:group", "at the end of its time a command ends with all that it started", async () => {
  const { workspace, root } = setUp();
  const command =
    "sleep 300 & echo $! > child; (setsid sleep 300 & echo $! > away); trap '' TERM; sleep 300; sleep 300";
  const response = await workspace.shell({ command, timeoutMs: 700 });
  expect(response).toMatchObject({
    success: false,
    error: "COMMAND_FAILED",
    message: expect.stringMatching(/^stopped after 700 ms/),
  });
  expect(isAlive(await pidIn(join(root, "child")))).toBe(false);
  expect(isAlive(await pidIn(join(root, "away")))).toBe(false);
});

test("a signal ends a command with all that it started", async () => {
  const { workspace, root } = setUp();
  const controller = new AbortController();
  const response = workspace.shell({ command: "sleep 300 & echo $! > child; wait" }, controller.signal);
  const pid = await pidIn(join(root, "child"));
  controller.abort();
  expect(await response).toMatchObject({
    success: false,
    error: "COMMAND_FAILED",
    message: "cancelled\n[no output]",
  });
  expect(isAlive(pid)).toBe(false);
});

test("background processes of a command end with it", async () => {
  const { workspace, root } = setUp();
  const response = await workspace.shell({ command: "sleep 300 & echo $! > child; echo done" });
  expect(response).toMatchObject({ success: true, result: { output: "done\n" } });
  expect(isAlive(await pidIn(join(root, "child")))).toBe(false);
});

test("a process that hides from its group does not keep the answer back", async () => {
  const { workspace, root } = setUp();
  const response = await workspace.shell({
    command: "env -i setsid sleep 300 & echo $! > child; echo done",
  });
  expect(response).toMatchObject({ success: true, result: { output: "done\n" } });
  process.kill(await pidIn(join(root, "child")), "SIGKILL");
});

test("a shell that is not there is a failure", async () => {
  const root = temporaryFolder();
  writeFileSync(join(root, "x"), "");
  const permissions = createPermissions({ root, user: { allow: ["shell-run(ls)"] } });
  const workspace = openWorkspace({ permissions, shell: "/no/such/shell" });
  const response = await workspace.shell({ command: "ls" });
  expect(response).toMatchObject({ success: false, message: expect.stringContaining("/no/such/shell") });
});
