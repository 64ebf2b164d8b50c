import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const sections = readFileSync("docs/origins.md", "utf8").split(/^## /mu);

// The number of headings of each document, and of parts without a heading that docs/origins.md names ("its …").
test.each([
  ["Ernesto", 24 + 3],
  ["Tool help", 37 + 1],
  ["The agent framework", 81],
  ["Dynamic tool injection", 55],
  ["Orchestr8", 73],
])("docs/origins.md has every heading of %s", (title, count) => {
  const rows = sections.find((section) => section.startsWith(`${title}\n`))?.match(/^\| .*$/gmu) ?? [];
  const headings = rows.slice(1).flatMap((row) =>
    row
      .split("|")[1]!
      .split(";")
      .map((cell) => cell.trim()),
  );
  expect(new Set(headings).size).toBe(count);
});

test("docs/origins.md has a row for each thing that the projects' own data brought out", () => {
  const rows = sections
    .find((section) => section.startsWith("With the projects' own data"))
    ?.match(/^\| .*$/gmu);
  const findings = (rows ?? []).slice(1).map((row) => row.split("|").map((cell) => cell.trim()));
  expect(new Set(findings.map(([, , finding]) => finding)).size).toBe(27);
  for (const [, , , change] of findings) expect(change).not.toBe("");
});
