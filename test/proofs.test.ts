import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { FAULTS } from "./faults.ts";
import { barOf, FIGURES, type Figure } from "./figures.ts";
import { CLAIMS, type Claim, filesWith, isTitled, titlesOf } from "./proofs.ts";
import { testFiles } from "./test-files.ts";

const files = testFiles();

describe.each(Object.entries<Readonly<Record<string, Claim>>>(CLAIMS))("the table of %s", (_, claims) => {
  test("names tests that exist", () => {
    const missing = Object.values(claims)
      .flatMap(({ tests }) => tests)
      .filter((title) => filesWith([title], files).length === 0);
    expect(missing).toEqual([]);
  });

  test("has a proof of each claim, or says why there is none", () => {
    const isProven = ([id, claim]: [string, Claim]) =>
      filesWith(titlesOf(id, claim), files).length > 0 || (claim.figures ?? []).length > 0;
    const rows = Object.entries<Claim>(claims);
    expect(rows.filter((row) => isProven(row) === (row[1].missing !== undefined))).toEqual([]);
  });

  test("names figures that are printed", () => {
    const named = Object.values(claims).flatMap(({ figures = [] }) => figures);
    expect(named.filter((name) => !Object.hasOwn(FIGURES, name))).toEqual([]);
  });
});

test("there are 24 threats, and every fault has a test", () => {
  expect(Object.keys(CLAIMS.threats)).toEqual(Array.from({ length: 24 }, (_, at) => `T${at + 1}`));
  expect(Object.values<Claim>(FAULTS).filter(({ tests }) => tests.length === 0)).toEqual([]);
});

test("every test under test/faults/ names a fault of the table", () => {
  const titles = files
    .filter(({ file }) => file.startsWith("test/faults/"))
    .flatMap(({ text }) =>
      [...text.matchAll(/\btest(?:\.\w+\([^;]*?\))*\(\s*"([^"]+)"/g)].map(([, title = ""]) => title),
    );
  expect(titles.length).toBeGreaterThan(30);
  expect(titles.filter((title) => !Object.hasOwn(FAULTS, title.split(":")[0]!))).toEqual([]);
});

test("every figure that a test reports has a row, and every row that tests measure has a test", () => {
  const reported = files
    .filter(({ file }) => file !== "test/figures.test.ts")
    .flatMap(({ text }) => [...text.matchAll(/\breportFigure\(\s*"([^"]+)"/g)].map(([, name]) => name));
  const measured = Object.entries(FIGURES).filter(
    ([, figure]) => !("bench" in figure || "mutants" in figure),
  );
  const missing = measured.map(([name]) => name).filter((name) => !reported.includes(name));
  expect(missing).toEqual([]);
});

test("the README lists every row of the table with its bar", () => {
  const claims = Object.entries<Readonly<Record<string, Claim>>>(CLAIMS).map(
    ([name, rows]) => `| \`${name}-tested\` | ${name} whose tests ran and passed | ${barOfClaims(rows)} |`,
  );
  const figures = Object.entries<Figure>(FIGURES).map(
    ([name, figure]) => `| \`${name}\` | ${figure.says} | ${barOf(figure)} |`,
  );
  const readme = readFileSync("README.md", "utf8");
  expect([...claims, ...figures].filter((row) => !readme.includes(row))).toEqual([]);
});

test.each([
  ["a %s of %d days", "group > a cat of 7 days", true],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a title as it is written
  ["no ${what} is left", "no process is left", true],
  ["$depth levels", "40 levels of x", true],
  ["a %s of %d days", "of 7 days a cat", false],
])("the title %j fits %j: %s", (title, ran, fits) => {
  expect(isTitled(ran, title)).toBe(fits);
});

/** All claims, or all but those that nothing can prove yet. */
function barOfClaims(claims: Readonly<Record<string, Claim>>): string {
  const rows = Object.entries(claims);
  const open = rows.flatMap(([id, { missing }]) => (missing === undefined ? [] : [`${id}: ${missing}`]));
  if (open.length === 0) return `all ${rows.length}`;
  return `${rows.length - open.length} of ${rows.length} (${open.join(", ")})`;
}
