// npm run mutate [-- options of Stryker]: changes the code of stryker.config.json one place at a time, runs the tests
// beside it, and keeps the score of each file for `npm run verify`. --keep REPORT only keeps that of a report.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { keepMutationScores, scoreOf } from "../test/mutation-scores.ts";

const REPORT = "coverage/mutation.json";
const [first, ...others] = process.argv.slice(2);
const reports = first === "--keep" ? others : [REPORT];
if (first !== "--keep") {
  const { status } = spawnSync(
    process.execPath,
    ["scripts/tool.ts", "stryker", "stryker", "run", ...process.argv.slice(2)],
    { stdio: "inherit" },
  );
  if (status !== 0) process.exit(status ?? 1);
}
for (const report of reports) keepMutationScores(JSON.parse(readFileSync(report, "utf8")));
const scores = keepMutationScores({ files: {} });
const groups = Map.groupBy(scores, ({ file }) => file.split("/").slice(0, -1).join("/"));
for (const [name, group] of [...groups, ["all", scores] as const]) {
  const { value, of } = scoreOf(group);
  console.log(`${value.toFixed(1).padStart(6)} %  of ${String(of).padStart(5)}  ${name}`);
}
