import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { applyPatch } from "diff";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../test/claims.ts";
import { openWorkspace, type ToolResponse } from "../../../test/open-workspace.ts";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import { PROBLEMS } from "../../base/problems/problems.ts";
import { createPermissions, type PermissionsOptions } from "../permissions/permissions.ts";

const ALLOWED = { allow: ["fs-write(**)", "fs-delete(**)"] };

function setUp(options: Partial<PermissionsOptions> = {}) {
  const folder = temporaryFolder();
  const root = join(folder, "project");
  mkdirSync(root);
  const put = (path: string, text: string | Buffer) => {
    mkdirSync(join(root, path, ".."), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  const permissions = createPermissions({ root, home: folder, user: ALLOWED, ...options });
  return { folder, root, put, permissions, workspace: openWorkspace({ permissions }) };
}

function resultOf<T>(response: ToolResponse<T>): T {
  if (!response.success) expect.fail(`${response.error}: ${response.message}`);
  return response.result;
}

describe("read", () => {
  test("gives ranges of lines, and says how to go on", async () => {
    const { workspace, put } = setUp();
    put("a.txt", "one\ntwo\nthree\nfour\n");
    const part = await workspace.read({ path: "a.txt", offset: 2, limit: 2 });
    expect(part).toMatchObject({
      result: { text: "two\nthree", firstLine: 2, lastLine: 3, totalLines: 4 },
      text: "[a.txt, lines 2 to 3 of 4; go on with offset 4]\n2\ttwo\n3\tthree",
    });
    expect(await workspace.read({ path: "a.txt", offset: 9 })).toMatchObject({ error: "INVALID_PARAMS" });
    put("empty", "");
    expect(resultOf(await workspace.read({ path: "empty" }))).toMatchObject({ text: "", totalLines: 0 });
  });

  test("refuses binary, large and special files, and folders", async () => {
    const { workspace, put, root } = setUp();
    put("binary", Buffer.from([1, 2, 0, 3]));
    put("large", Buffer.alloc(11 * 1024 * 1024, "a"));
    put("long-line", "x".repeat(5_000));
    mkdirSync(join(root, "folder"));
    expect(await workspace.read({ path: "binary" })).toMatchObject({ error: "INVALID_PARAMS" });
    expect(await workspace.read({ path: "large" })).toMatchObject({ error: "LIMIT_EXCEEDED" });
    expect(await workspace.read({ path: "folder" })).toMatchObject({ error: "INVALID_PARAMS" });
    expect(await workspace.read({ path: "/dev/zero" })).toMatchObject({ error: "PERMISSION_DENIED" });
    expect(await workspace.read({ path: "no/such" })).toMatchObject({ error: "NOT_FOUND" });
    expect(resultOf(await workspace.read({ path: "long-line" }))).toMatchObject({ cutLines: 1 });
  });

  verifies("workspace:never-throws", "every input gets a response with one of the codes", async () => {
    const { workspace } = setUp();
    const input = fc.oneof(
      fc.anything(),
      fc.record({
        path: fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("..", "/", "~", ".", "\0")),
      }),
      fc.record({ pattern: fc.string(), path: fc.string() }),
      fc.record({ path: fc.string(), oldText: fc.string(), newText: fc.string() }),
    );
    const { shell, ...others } = workspace;
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...Object.values(others)), input, async (tool, given) => {
        const response = await tool(given);
        if (!response.success) expect(PROBLEMS).toHaveProperty(response.error);
      }),
      { numRuns: 300 },
    );
    expect(await shell({ command: "" })).toMatchObject({ error: "INVALID_PARAMS" });
  });
});

describe("list and search", () => {
  function tree() {
    const made = setUp();
    made.put(".gitignore", "node_modules/\n*.log\n!keep.log\n/only-top\nb[0-9].txt\n");
    made.put("node_modules/x/index.js", "needle");
    made.put("a.log", "needle");
    made.put("keep.log", "needle");
    made.put("only-top", "needle");
    made.put("src/only-top", "needle 1\nother\nneedle 2");
    made.put("src/.gitignore", "/generated\n!*.log");
    made.put("src/generated/x.ts", "needle");
    made.put("src/deep.log", "needle");
    made.put("b1.txt", "needle");
    made.put("bx.txt", "Needle");
    made.put(".git/config", "needle");
    made.put(".env", "needle=secret");
    made.put("binary", Buffer.from("needle\0"));
    symlinkSync("/etc", join(made.root, "link"));
    return made;
  }

  test("leave out what ignore files leave out, and follow no links", async () => {
    const { workspace } = tree();
    const listed = resultOf(await workspace.list({ depth: 5 }));
    expect(listed.entries.map(({ path }) => path)).toEqual([
      ".env",
      ".gitignore",
      "binary",
      "bx.txt",
      "keep.log",
      "link",
      "src",
      "src/.gitignore",
      "src/deep.log",
      "src/only-top",
    ]);
    expect(resultOf(await workspace.list({ path: "src" })).entries.map(({ path }) => path)).toEqual([
      ".gitignore",
      "deep.log",
      "only-top",
    ]);
    expect(resultOf(await workspace.list({ limit: 2 }))).toMatchObject({
      more: true,
      entries: { length: 2 },
    });
    expect(await workspace.list({ path: "nowhere" })).toMatchObject({ error: "NOT_FOUND" });
  });

  test("find lines, without sensitive files", async () => {
    const { workspace } = tree();
    const found = resultOf(await workspace.search({ pattern: "need.e" }));
    expect(found.matches).toEqual([
      { path: "keep.log", line: 1, text: "needle" },
      { path: "src/deep.log", line: 1, text: "needle" },
      { path: "src/only-top", line: 1, text: "needle 1" },
      { path: "src/only-top", line: 3, text: "needle 2" },
    ]);
    expect(found.filesSkipped).toBe(1);
    const any = resultOf(await workspace.search({ pattern: "NEEDLE", ignoreCase: true, files: "*.txt" }));
    expect(any.matches.map(({ path }) => path)).toEqual(["bx.txt"]);
    const one = resultOf(await workspace.search({ pattern: "needle", path: "src/only-top", limit: 1 }));
    expect(one).toMatchObject({ more: true, matches: [{ path: "only-top", line: 1 }] });
  });

  test("take patterns that would stall others, and refuse what is no pattern", async () => {
    const { workspace, put } = setUp();
    put("a.txt", "a".repeat(50_000));
    expect(resultOf(await workspace.search({ pattern: "(a+)+$b" })).matches).toEqual([]);
    expect(await workspace.search({ pattern: "(?=a)b" })).toMatchObject({ error: "INVALID_PARAMS" });
    expect(await workspace.search({ pattern: "(" })).toMatchObject({ error: "INVALID_PARAMS" });
    expect(await workspace.search({ pattern: "((a{100}){100}){100}" })).toMatchObject({
      error: "INVALID_PARAMS",
    });
    expect(resultOf(await workspace.search({ pattern: "(", literal: true })).matches).toEqual([]);
    const stopped = await workspace.search({ pattern: "a" }, AbortSignal.abort());
    expect(stopped.success).toBe(false);
  });
});

describe("write and edit", () => {
  test("make files and folders, keep modes, and show what changed", async () => {
    const { workspace, root, put } = setUp();
    const made = resultOf(await workspace.write({ path: "new/deep/a.txt", text: "one\n" }));
    expect(made).toMatchObject({ created: true, bytes: 4 });
    expect(made.diff).toContain("--- /dev/null\n+++ b/new/deep/a.txt");
    put("run.sh", "#!/bin/sh\necho 1\necho 2\n");
    chmodSync(join(root, "run.sh"), 0o755);
    const edited = resultOf(
      await workspace.edit({ path: "run.sh", oldText: "echo 1", newText: "echo $& $1" }),
    );
    expect(edited.diff).toBe(
      "--- a/run.sh\n+++ b/run.sh\n@@ -1,3 +1,3 @@\n #!/bin/sh\n-echo 1\n+echo $& $1\n echo 2\n",
    );
    expect(readFileSync(join(root, "run.sh"), "utf8")).toBe("#!/bin/sh\necho $& $1\necho 2\n");
    expect(statSync(join(root, "run.sh")).mode & 0o777).toBe(0o755);
  });

  test("a diff applied to the old text gives the new one", async () => {
    const { workspace, root, put } = setUp();
    const line = fc.constantFrom("a\n", "b\n", "c\r\n", "\n", "é\n", "no end");
    await fc.assert(
      fc.asyncProperty(fc.array(line), fc.array(line), async (before, after) => {
        put("x", before.join(""));
        await workspace.read({ path: "x" });
        const { diff } = resultOf(await workspace.write({ path: "x", text: after.join("") }));
        expect(readFileSync(join(root, "x"), "utf8")).toBe(after.join(""));
        expect(applyPatch(before.join(""), diff ?? "", { autoConvertLineEndings: false })).toBe(
          after.join(""),
        );
      }),
      { numRuns: 60 },
    );
  });

  test("a text that occurs more than once, or not at all, is not replaced", async () => {
    const { workspace, put } = setUp();
    put("a", "x y x");
    expect(await workspace.edit({ path: "a", oldText: "x", newText: "z" })).toMatchObject({
      error: "INVALID_PARAMS",
      message: expect.stringContaining("2 times"),
    });
    expect(await workspace.edit({ path: "a", oldText: "x  y", newText: "z" })).toMatchObject({
      message: expect.stringContaining("white space"),
    });
    expect(
      resultOf(await workspace.edit({ path: "a", oldText: "x", newText: "z", all: true })).replaced,
    ).toBe(2);
    expect(await workspace.edit({ path: "none", oldText: "x", newText: "z" })).toMatchObject({
      error: "NOT_FOUND",
    });
    put("latin", Buffer.from([0x61, 0xe9, 0x62]));
    expect(await workspace.edit({ path: "latin", oldText: "a", newText: "b" })).toMatchObject({
      error: "INVALID_PARAMS",
    });
  });

  verifies("workspace:stale", "a file that changed since it was read is not written over", async () => {
    const { workspace, put } = setUp();
    put("a", "one");
    expect(await workspace.write({ path: "a", text: "two" })).toMatchObject({ error: "INVALID_PARAMS" });
    await workspace.read({ path: "a" });
    put("a", "changed");
    for (const response of [
      await workspace.write({ path: "a", text: "two" }),
      await workspace.edit({ path: "a", oldText: "changed", newText: "two" }),
    ]) {
      expect(response).toMatchObject({
        success: false,
        message: expect.stringContaining("has changed since"),
      });
    }
    await workspace.read({ path: "a" });
    expect((await workspace.write({ path: "a", text: "two" })).success).toBe(true);
    expect((await workspace.write({ path: "a", text: "three" })).success).toBe(true);
  });

  test("a link that takes a folder's or a file's place after permission is not followed", async () => {
    const swaps: (() => void)[] = [];
    const made = setUp({
      user: {},
      ask: async () => {
        swaps.shift()?.();
        return "once";
      },
    });
    const { workspace, root, folder, put } = made;
    const outside = join(folder, "outside");
    mkdirSync(join(outside, "sub"), { recursive: true });
    for (const each of ["a", "sub/a"]) writeFileSync(join(outside, each), "theirs");
    put("dir/a", "mine");
    put("dir/sub/a", "mine");
    const swapFolder = () => {
      renameSync(join(root, "dir"), join(root, "moved"));
      symlinkSync(outside, join(root, "dir"));
    };
    const back = () => {
      rmSync(join(root, "dir"));
      renameSync(join(root, "moved"), join(root, "dir"));
    };
    const calls = [
      () => workspace.write({ path: "dir/new", text: "x" }),
      () => workspace.edit({ path: "dir/a", oldText: "theirs", newText: "x" }),
      () => workspace.delete({ path: "dir/a" }),
      () => workspace.write({ path: "dir/sub/new", text: "x" }),
      () => workspace.edit({ path: "dir/sub/a", oldText: "theirs", newText: "x" }),
      () => workspace.delete({ path: "dir/sub/a" }),
    ];
    for (const call of calls) {
      swaps.push(swapFolder);
      expect((await call()).success).toBe(false);
      back();
    }
    swaps.push(() => {
      rmSync(join(root, "dir/a"));
      symlinkSync(join(outside, "a"), join(root, "dir/a"));
    });
    expect((await workspace.edit({ path: "dir/a", oldText: "theirs", newText: "x" })).success).toBe(false);
    for (const each of ["a", "sub/a"]) expect(readFileSync(join(outside, each), "utf8")).toBe("theirs");
    for (const each of ["new", "sub/new"]) expect(existsSync(join(outside, each))).toBe(false);
  });
});

test("delete takes files, links themselves and empty folders", async () => {
  const { workspace, root, put, folder } = setUp();
  put("full/a", "x");
  mkdirSync(join(root, "empty"));
  writeFileSync(join(folder, "target"), "stays");
  symlinkSync(join(folder, "target"), join(root, "link"));
  expect(resultOf(await workspace.delete({ path: "link" })).kind).toBe("link");
  expect(readFileSync(join(folder, "target"), "utf8")).toBe("stays");
  expect(resultOf(await workspace.delete({ path: "empty/" })).kind).toBe("folder");
  expect(await workspace.delete({ path: "full" })).toMatchObject({ error: "IO_ERROR" });
  expect(resultOf(await workspace.delete({ path: "full/a" })).kind).toBe("file");
  expect(await workspace.delete({ path: "full/a" })).toMatchObject({ error: "NOT_FOUND" });
  expect(await workspace.delete({ path: "." })).toMatchObject({ success: false });
  expect(existsSync(root)).toBe(true);
});

test("nothing is done without permission", async () => {
  const { workspace, put, root } = setUp({ user: {} });
  put("a", "x");
  await workspace.read({ path: "a" });
  const responses = [
    await workspace.write({ path: "a", text: "y" }),
    await workspace.edit({ path: "a", oldText: "x", newText: "y" }),
    await workspace.delete({ path: "a" }),
    await workspace.shell({ command: "echo y > a" }),
    await workspace.read({ path: "../x" }),
    await workspace.read({ path: ".env" }),
  ];
  for (const response of responses) expect(response).toMatchObject({ error: "PERMISSION_DENIED" });
  expect(readFileSync(join(root, "a"), "utf8")).toBe("x");
});
