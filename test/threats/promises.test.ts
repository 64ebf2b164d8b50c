import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** Rows of tables whose last cell cites a test. */
const ROW = /^\| (.+?) \| (.+) \|$/gm;
/** The title of a test, also after the rows of `test.each(…)`. */
const TITLE = /(?:\btest|\))\(\s*"([^"]+)"/g;
/** A behaviour of a published suite, which runs over every driver. */
const BEHAVIOUR = /^ {2}"([^"]+)": async/gm;

/** Rows of the tables that cite tests. Other tables have other heads. */
const TABLE = /^\| promise \| test \|\n(?:\|.*\|\n)+/gm;
const rowsOf = (page: string) =>
  [...readFileSync(page, "utf8").matchAll(TABLE)].flatMap(([table]) => [...table.matchAll(ROW)].slice(1));
const rows = ["docs/security.md", "docs/promises.md"].flatMap(rowsOf);
const titlesIn = (pattern: string, title: RegExp) =>
  globSync(pattern).flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(title)].map(([, found]) => found),
  );
const titles = [
  ...titlesIn("{test,src}/**/*.test.ts", TITLE),
  ...titlesIn("src/testing/describe-storage.ts", BEHAVIOUR),
];

test("every promise about security cites a test that exists", () => {
  const cited = rows.map(([, promise, test = ""]) => ({ promise, test: /^`(.+)`$/.exec(test)?.[1] }));
  expect(cited.length).toBeGreaterThan(150);
  expect(cited.filter(({ test }) => test === undefined || !titles.includes(test))).toEqual([]);
});
