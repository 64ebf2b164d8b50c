import { expect, test } from "vitest";
import { describeRule } from "./question-lines.ts";

test.each([
  ["shell-run(npm test)", "running npm test, with exactly these words"],
  ["shell-run(git diff *)", "running git diff, with any further arguments"],
  [
    "shell-run(npm run **)",
    "running npm run, with any further arguments; it may run other programs and write files",
  ],
  ["shell-run(grep '*' notes.md)", "running grep '*' notes.md, with exactly these words"],
  ["fs-write(src/**)", "writing every file below src"],
  ["fs-write(**)", "writing every file of the folder"],
  ["fs-write(src/a.ts)", "writing the file src/a.ts alone"],
  ["fs-delete(src/\\*.ts)", "deleting the file src/*.ts alone"],
  ["fs-read(src/*.ts)", "reading every file whose path fits src/*.ts"],
  ["other", "other"],
])("%s covers %s", (rule, covered) => {
  expect(describeRule(rule)).toBe(covered);
});
