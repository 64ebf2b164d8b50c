import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** Rows of tables whose last cell cites a test. */
const ROW = /^\| (.+?) \| (.+) \|$/gm;
/** The title of a test, also after the rows of `test.each(…)`. */
const TITLE = /(?:\btest|\))\(\s*"([^"]+)"/g;

const page = readFileSync("docs/security.md", "utf8");
const rows = [...page.matchAll(ROW)].filter(([, promise]) => promise !== "promise");
const titles = globSync(["test/**/*.test.ts", "src/**/*.test.ts"]).flatMap((file) =>
  [...readFileSync(file, "utf8").matchAll(TITLE)].map(([, title]) => title),
);

test("every promise of the security page cites a test that exists", () => {
  const cited = rows.map(([, promise, test = ""]) => ({ promise, test: /^`(.+)`$/.exec(test)?.[1] }));
  expect(cited.length).toBeGreaterThan(20);
  expect(cited.filter(({ test }) => test === undefined || !titles.includes(test))).toEqual([]);
});
