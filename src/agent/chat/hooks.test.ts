import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import { createHooks } from "./hooks.ts";

const CALL = { tool: "shell", args: { command: "ls" } };

test("a hook before a call gets the call as JSON, and refuses by exit code 2 with its reason", async () => {
  const folder = temporaryFolder();
  const hooks = createHooks(
    [
      { on: "before-tool", tool: "sh*", command: "cat > seen.json" },
      { on: "before-tool", tool: "shell", command: "echo not today >&2; exit 2" },
      { on: "before-tool", tool: "shell", command: "touch never" },
    ],
    folder,
  );
  expect(await hooks.beforeTool?.(CALL)).toBe("not today");
  expect(JSON.parse(readFileSync(join(folder, "seen.json"), "utf8"))).toEqual({
    on: "before-tool",
    folder,
    ...CALL,
  });
  expect(() => readFileSync(join(folder, "never"))).toThrow("ENOENT");
  expect(await hooks.beforeTool?.({ ...CALL, tool: "read" })).toBeUndefined();
});

test.each([
  ["exits with another code", { command: "echo broken >&2; exit 1" }, "exit code 1"],
  ["takes too long", { command: "exec sleep 30", timeoutMs: 50 }, "after 50 ms"],
  ["does not exist", { command: "/nowhere/program" }, "exit code 127"],
  ["is killed", { command: "kill -9 $$" }, "ended"],
])("T22: a hook that %s refuses the call, unless it may fail", async (_, hook, reason) => {
  const folder = temporaryFolder();
  const refusal = await createHooks([{ on: "before-tool", ...hook }], folder).beforeTool?.(CALL);
  expect(refusal).toContain(reason);
  const lenient = createHooks([{ on: "before-tool", mayFail: true, ...hook }], folder);
  expect(await lenient.beforeTool?.(CALL)).toBeUndefined();
});

test("T22: a hook that cannot start refuses the call", async () => {
  const gone = join(temporaryFolder(), "gone");
  const refusal = await createHooks([{ on: "before-tool", command: "true" }], gone).beforeTool?.(CALL);
  expect(refusal).toContain("failed");
});

test("hooks add to the prompt and to a result, and hear how a run ended", async () => {
  const folder = temporaryFolder();
  const hooks = createHooks(
    [
      { on: "prompt", command: "echo on branch main" },
      { on: "prompt", command: "echo the ticket is closed >&2; exit 2" },
      { on: "after-tool", tool: "edit", command: "echo format it >&2; exit 2" },
      { on: "end", command: "cat > end.json" },
    ],
    folder,
  );
  expect(await hooks.prompt?.("Go")).toBe("on branch main\nthe ticket is closed");
  expect(await hooks.afterTool?.({ tool: "edit", args: {}, ok: true, text: "done" })).toBe("format it");
  expect(await hooks.afterTool?.({ tool: "read", args: {}, ok: true, text: "done" })).toBeUndefined();
  await hooks.end?.({ outcome: "answered", text: "Done." });
  expect(JSON.parse(readFileSync(join(folder, "end.json"), "utf8"))).toMatchObject({ outcome: "answered" });
});
