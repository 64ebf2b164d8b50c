import { readFileSync, statSync } from "node:fs";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import { exportChat } from "./export-chat.ts";

const TOKEN = `ghp_${"aB3".repeat(12)}`;

test("T14: an exported conversation has no text that looks like a secret, and hides no character", async () => {
  const folder = temporaryFolder();
  const output = { type: "text" as const, value: `token ${TOKEN}\u001b[2K` };
  const path = await exportChat(
    [
      { role: "user", content: `my key is ${TOKEN}\u202e` },
      { role: "tool", content: [{ type: "tool-result", toolCallId: "1", toolName: "get", output }] },
    ],
    { folder, name: "chat.md" },
  );
  const text = readFileSync(path, "utf8");
  expect(text).toContain("my key is");
  expect(text).not.toContain(TOKEN);
  expect(text).toContain("\\u001b[2K");
  expect(text).toContain("\\u202e");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  await expect(exportChat([], { folder, name: "chat.md" })).rejects.toMatchObject({ code: "INVALID_INPUT" });
});
