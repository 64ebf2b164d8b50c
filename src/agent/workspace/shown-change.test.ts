import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openWorkspace } from "../../../test/open-workspace.ts";
import { setUpPermissions } from "../../../test/set-up-permissions.ts";
import type { PermissionAnswer, PermissionQuestion } from "../permissions/permissions.ts";

/** A workspace whose person answers by what they see. */
function setUp(answer: (question: PermissionQuestion, root: string) => PermissionAnswer) {
  const asked: PermissionQuestion[] = [];
  const { permissions, root } = setUpPermissions({
    ask: async (question) => {
      asked.push(question);
      return answer(question, root);
    },
    store: { place: "the settings", allow: async () => {} },
  });
  return { workspace: openWorkspace({ permissions }), root, asked };
}

test("a question about an edit has its whole diff, with a comment, a tab and unseen characters", async () => {
  const { workspace, root, asked } = setUp(() => "once");
  writeFileSync(join(root, "a.html"), "one\ntwo\n");
  const edited = await workspace.edit({ path: "a.html", oldText: "two", newText: "\t<!-- x\u200b -->" });
  expect(edited.success).toBe(true);
  expect(asked[0]?.diff).toBe(
    "--- a/a.html\n+++ b/a.html\n@@ -1,2 +1,2 @@\n one\n-two\n+\t<!-- x‹U+200B› -->\n",
  );
  expect(asked[0]).toMatchObject({ always: ["fs-write(a.html)"], keptIn: "the settings" });
});

test("texts that differ too much to compare are shown whole", async () => {
  const { workspace, asked, root } = setUp(() => "once");
  const lines = (sign: string) => Array.from({ length: 3_000 }, (_, line) => `${sign}${line}`).join("\n");
  writeFileSync(join(root, "a"), lines("old"));
  await workspace.read({ path: "a" });
  await workspace.write({ path: "a", text: lines("new") });
  for (const line of ["-old0", "-old2999", "+new0", "+new2999"]) {
    expect(asked[0]?.diff?.split("\n")).toContain(line);
  }
});

test("a file that changes while the question is open is not written", async () => {
  const { workspace, root } = setUp((_question, folder) => {
    writeFileSync(join(folder, "a"), "one\nother two\n");
    return "once";
  });
  writeFileSync(join(root, "a"), "one\ntwo\n");
  const edited = await workspace.edit({ path: "a", oldText: "two", newText: "three" });
  expect(edited).toMatchObject({ success: false, error: "CONFLICT" });
  expect(readFileSync(join(root, "a"), "utf8")).toBe("one\nother two\n");
});

test("an edit that could not be shown is not made, also if the person allows it", async () => {
  const { workspace, root, asked } = setUp((_question, folder) => {
    writeFileSync(join(folder, "a"), "two\n");
    return "once";
  });
  writeFileSync(join(root, "a"), "one\n");
  const edited = await workspace.edit({ path: "a", oldText: "two", newText: "three" });
  expect(asked[0]?.diff).toContain("oldText is not in a");
  expect(edited.success).toBe(false);
  expect(readFileSync(join(root, "a"), "utf8")).toBe("two\n");
});

test("a question about a command names its folder, and the reason of a refusal reaches the model", async () => {
  const { workspace, root, asked } = setUp(() => ({ deny: "use pnpm" }));
  const ran = await workspace.shell({ command: "npm test" });
  expect(asked[0]).toMatchObject({ resource: "npm test", folder: root });
  expect(ran).toMatchObject({
    success: false,
    message: "shell-run: The person refused, and says: use pnpm",
  });
});
