import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** Rows of tables whose last cell cites a test. */
const ROW = /^\| (.+?) \| (.+) \|$/gm;
/** The title of a test, also after the rows of `test.each(…)`. */
const TITLE = /(?:\btest|\))\(\s*"([^"]+)"/g;
/** A behaviour of a published suite, which runs over every driver. */
const BEHAVIOUR = /^ {2}"([^"]+)": async/gm;

const page = readFileSync("docs/security.md", "utf8");
const rows = [...page.matchAll(ROW)].filter(([, promise]) => promise !== "promise");
const titlesIn = (pattern: string, title: RegExp) =>
  globSync(pattern).flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(title)].map(([, found]) => found),
  );
const titles = [
  ...titlesIn("{test,src}/**/*.test.ts", TITLE),
  ...titlesIn("src/testing/describe-storage.ts", BEHAVIOUR),
];

test("every promise of the security page cites a test that exists", () => {
  const cited = rows.map(([, promise, test = ""]) => ({ promise, test: /^`(.+)`$/.exec(test)?.[1] }));
  expect(cited.length).toBeGreaterThan(20);
  expect(cited.filter(({ test }) => test === undefined || !titles.includes(test))).toEqual([]);
});
