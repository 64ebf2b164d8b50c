import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openWorkspace } from "../../../test/open-workspace.ts";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import { createPermissions } from "../permissions/permissions.ts";
import { createCheckpoints } from "./checkpoints.ts";

function open() {
  const root = temporaryFolder();
  const permissions = createPermissions({ root, ask: async () => "once" });
  const checkpoints = createCheckpoints(permissions.root);
  const workspace = openWorkspace({ permissions, checkpoints });
  const at = (path: string) => join(permissions.root, path);
  const text = (path: string) => readFileSync(at(path), "utf8");
  const run = async (command: string) =>
    expect(await workspace.shell({ command })).toMatchObject({ success: true });
  return { at, text, run, checkpoints, workspace };
}

test("a turn is undone with what its commands changed, made and deleted, without git", async () => {
  const { at, text, run, checkpoints, workspace } = open();
  writeFileSync(at("a.txt"), "a\n");
  writeFileSync(at("b.txt"), "b\n");
  writeFileSync(at("gone.txt"), "here\n");
  chmodSync(at("gone.txt"), 0o755);
  mkdirSync(at("src"));
  checkpoints.begin();
  await workspace.read({ path: "a.txt" });
  await workspace.edit({ path: "a.txt", oldText: "a", newText: "edited" });
  await run("echo more >> a.txt; echo changed > b.txt; rm gone.txt; mkdir new; echo n > new/n.txt");
  await run("echo twice > b.txt");
  const { lines } = await checkpoints.undo();
  expect(text("a.txt")).toBe("a\n");
  expect(text("b.txt")).toBe("b\n");
  expect(text("gone.txt")).toBe("here\n");
  expect(statSync(at("gone.txt")).mode & 0o777).toBe(0o755);
  expect(existsSync(at("new/n.txt"))).toBe(false);
  expect(lines.toSorted()).toEqual(
    [
      `Restored ${at("a.txt")}.`,
      `Restored ${at("b.txt")}.`,
      `Restored ${at("gone.txt")}.`,
      `Removed ${at("new/n.txt")}, which the turn had made.`,
      "Commands ran in this turn: what they changed outside of the folder, in ignored files and beyond files stays.",
    ].toSorted(),
  );
});

test("changes of the person between commands, and since the turn, are not undone", async () => {
  const { at, text, run, checkpoints } = open();
  writeFileSync(at("mine.txt"), "1\n");
  writeFileSync(at("both.txt"), "1\n");
  checkpoints.begin();
  await run("touch made-1");
  writeFileSync(at("mine.txt"), "by hand\n");
  await run("echo 2 > both.txt");
  writeFileSync(at("both.txt"), "by hand\n");
  const { lines } = await checkpoints.undo();
  expect(text("mine.txt")).toBe("by hand\n");
  expect(text("both.txt")).toBe("by hand\n");
  expect(lines).toContain(`Kept ${at("both.txt")}: it was changed since.`);
  expect(existsSync(at("made-1"))).toBe(false);
});

test("turns are undone one by one; ignored files and large ones stay, and the answer says so", async () => {
  const { at, text, run, checkpoints } = open();
  writeFileSync(at(".gitignore"), "out/\n");
  writeFileSync(at("large.bin"), Buffer.alloc(2 ** 21));
  writeFileSync(at("a.txt"), "0\n");
  checkpoints.begin();
  await run("echo 1 > a.txt; mkdir out; echo built > out/b.txt");
  checkpoints.begin();
  await run("echo 2 > a.txt; echo x >> large.bin");
  checkpoints.begin();
  await run("ls");
  const { lines } = await checkpoints.undo();
  expect(text("a.txt")).toBe("1\n");
  expect(lines).toContain("Files too large or too many to be kept: 1. Changes of commands in them stay.");
  expect(statSync(at("large.bin")).size).toBe(2 ** 21 + 2);
  await checkpoints.undo();
  expect(text("a.txt")).toBe("0\n");
  expect(text("out/b.txt")).toBe("built\n");
  expect((await checkpoints.undo()).lines).toEqual([
    "There is nothing to undo: no turn of this chat has changed a file.",
  ]);
});

test("all turns since a place of a conversation are undone, as far as nobody changed a file between them", async () => {
  const { at, text, run, checkpoints } = open();
  const place = (messages: number, conversation = "one") => ({ conversation, messages });
  writeFileSync(at("a.txt"), "0\n");
  writeFileSync(at("mine.txt"), "0\n");
  checkpoints.begin(place(0));
  await run("echo 1 > a.txt");
  checkpoints.begin(place(4));
  await run("echo 2 > a.txt; echo 2 > mine.txt; touch made");
  writeFileSync(at("mine.txt"), "by hand\n");
  checkpoints.begin(place(2, "other"));
  await run("touch of-other");
  checkpoints.begin(place(8));
  await run("echo 3 > a.txt; echo 3 > mine.txt");
  // A part of the turn, after a message that the person sent meanwhile.
  checkpoints.begin(place(10), true);
  await run("touch late");
  expect(checkpoints.changedSince(place(8)).toSorted()).toEqual(
    [at("a.txt"), at("late"), at("mine.txt")].toSorted(),
  );
  expect(checkpoints.changedSince(place(11))).toEqual([]);
  const { lines } = await checkpoints.undo(place(4));
  expect(text("a.txt")).toBe("1\n");
  expect(text("mine.txt")).toBe("by hand\n");
  expect(["made", "late", "of-other"].map((name) => existsSync(at(name)))).toEqual([false, false, true]);
  expect(lines.filter((line) => line.includes("a.txt"))).toEqual([`Restored ${at("a.txt")}.`]);
  // The turn of the other conversation, and the first one, can still be undone.
  await checkpoints.undo();
  expect(existsSync(at("of-other"))).toBe(false);
  await checkpoints.undo();
  expect(text("a.txt")).toBe("0\n");
});

test("the parts of a turn are undone together", async () => {
  const { at, run, checkpoints } = open();
  checkpoints.begin();
  await run("touch before");
  checkpoints.begin();
  await run("touch first");
  checkpoints.begin(undefined, true);
  await run("touch second");
  checkpoints.begin();
  await checkpoints.undo();
  expect(["before", "first", "second"].map((name) => existsSync(at(name)))).toEqual([true, false, false]);
});
