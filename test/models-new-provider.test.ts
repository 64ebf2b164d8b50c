import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { temporaryFolder } from "./temporary-folder.ts";

test("a new provider is one file and one row, and is found everywhere", () => {
  const args = ["--import", "./test/new-provider/add-row.ts", "test/new-provider/find-provider.ts"];
  const printed = execFileSync(process.execPath, [...args, temporaryFolder()], { encoding: "utf8" });
  expect(JSON.parse(printed)).toEqual({
    listed: true,
    config: [true, false],
    defaultModel: "small-brain",
    made: "small-brain is ready.",
    answer: "Hello from small-brain with key-of-acme.",
    problems: [],
    settings: { default: "acme", acme: { brain: "big-brain", apiKey: "key-of-acme" } },
    otherModel: { default: "acme", acme: { brain: "other", apiKey: "key-of-acme" } },
    secrets: ["key-of-acme"],
    telemetry: "acme.ai",
    schema: true,
    docs: [true, true],
  });
});
