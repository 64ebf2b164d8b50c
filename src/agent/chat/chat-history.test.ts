import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import { openChatHistory } from "./chat-history.ts";

test("lines are kept across starts, by folder, for the owner alone and without secrets", async () => {
  const path = join(temporaryFolder(), "state", "history.jsonl");
  const first = await openChatHistory(path, "/one");
  expect(first.lines).toEqual([]);
  first.add("fix the test");
  first.add("my key is sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
  (await openChatHistory(path, "/two")).add("elsewhere");
  await expect.poll(() => readFileSync(path, "utf8").trim().split("\n").length).toBe(3);
  const again = await openChatHistory(path, "/one");
  expect(again.lines[0]).toBe("fix the test");
  expect(again.lines).toHaveLength(2);
  expect(again.lines[1]).not.toContain("AAAAAAAA");
  expect(statSync(path).mode & 0o777).toBe(0o600);
});
