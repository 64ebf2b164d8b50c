import { mkdirSync, realpathSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import { toFileRequest, toShellRequest } from "./to-request.ts";

function setUp() {
  const root = realpathSync(temporaryFolder());
  for (const name of ["far", "far/deep", "a"]) mkdirSync(join(root, name));
  symlinkSync("../far/deep", join(root, "a/link"));
  return { root, at: (path: string) => join(root, path) };
}

test("T22: deleting concerns the link itself, and the target if the path goes through it", async () => {
  const { root, at } = setUp();
  const pathOf = async (given: string) => (await toFileRequest("fs-delete", given, root)).path;
  expect(await pathOf("a/link")).toBe(at("a/link"));
  expect(await pathOf("a/link/x")).toBe(at("far/deep/x"));
  expect(await pathOf("a/link/.")).toBe(at("far/deep"));
  expect(await pathOf("a/link/..")).toBe(at("far"));
  expect(await pathOf("")).toBe(root);
  expect((await toFileRequest("fs-write", "a/link", root)).path).toBe(at("far/deep"));
});

test("a command that is not understood names no files", async () => {
  const { root } = setUp();
  expect(await toShellRequest("if", root)).toMatchObject({ parsed: { ok: false }, files: [], mentions: [] });
});

test("a command of 500 words is looked at, a longer one is not understood", async () => {
  const { root } = setUp();
  const words = (count: number) => `${"w ".repeat(count - 2)}; w w`;
  expect((await toShellRequest(words(500), root)).parsed.ok).toBe(true);
  expect(await toShellRequest(words(501), root)).toEqual({
    scope: "shell-run",
    command: words(501),
    parsed: { ok: false, reason: "it has more than 500 words" },
    files: [],
    mentions: [],
  });
});

test("redirections are files, except those to devices that keep nothing", async () => {
  const { root, at } = setUp();
  const { files } = await toShellRequest("x >a/link 2>/dev/null <in >/dev/stdout >$HOME", root);
  expect(files).toEqual([
    { scope: "fs-write", given: "a/link", path: at("far/deep") },
    { scope: "fs-read", given: "in", path: at("in") },
  ]);
});

test.each([
  ["a/link", ["far/deep"]],
  ["--file=a/link", ["--file=a/link", "--file", "far/deep", "ile=a/link"]],
  ["user@host:a/link,x", ["user@host:a/link,x", "user", "host", "far/deep", "x"]],
  ["-o./a/link", ["-o./a/link", "far/deep"]],
  ["-xoa", ["-xoa", "oa", "a"]],
  ["x-oa/link", ["x-oa/link"]],
  ["x--file", ["x--file"]],
  ["--file", ["--file", "ile"]],
  ["--9", ["--9"]],
  ["https://host/a", ["https:/host/a", "host/a"]],
  ["HTTP://host", ["HTTP:/host", "host"]],
  ["ws://h", ["ws:/h", "h"]],
  ["wss://h", ["wss:/h", "h"]],
  ["git+ssh://h", ["git+ssh:/h", "h"]],
  ["=", ["="]],
])("T22: %s mentions the paths that a program may take it for", async (word, expected) => {
  const { root, at } = setUp();
  const { mentions } = await toShellRequest(`x ${word}`, root);
  expect(mentions[0]?.[1]).toEqual(expected.map(at));
});
