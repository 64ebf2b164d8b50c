import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { HEADINGS } from "./headings.ts";

const sections = readFileSync("docs/origins.md", "utf8").replaceAll("`", "").split(/^## /mu);

test.each(Object.entries(HEADINGS))("docs/origins.md has every heading of %s", (title, headings) => {
  const section = sections.find((each) => each.startsWith(`${title}\n`)) ?? "";
  const first = section.split("\n").flatMap((line) => line.split("|")[1]?.split(";") ?? []);
  const named = new Set(first.map((cell) => cell.trim()));
  expect(headings.filter((heading) => !named.has(heading))).toEqual([]);
});
