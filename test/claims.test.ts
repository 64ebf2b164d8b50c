import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { CLAIMS } from "./claims.ts";

/** A title, also after the rows of `test.each(…)`, that begins with ids. */
const TITLE = /(?:\btest|\bdescribe|\))\(\s*["`]([\w:-]+(?:, [\w:-]+)*): /g;
const VERIFIES = /\bverifies\(\s*(?:"([^"]+)"|\[([^\]]+)\])/g;

const files = globSync("{src,test}/**/*.ts").map((file) => ({ file, text: readFileSync(file, "utf8") }));
const claims: Readonly<Record<string, string>> = Object.assign({}, ...Object.values(CLAIMS));

test("every claim is cited by a test", () => {
  const cited = new Set(files.flatMap(({ text }) => [...titleIdsIn(text), ...verifiedIdsIn(text)]));
  expect(Object.keys(claims).filter((id) => !cited.has(id))).toEqual([]);
});

test("tests of threats and faults cite claims that exist", () => {
  const cited = files.filter(({ file }) => /^test\/(faults|threats)\//.test(file));
  const ids = cited.flatMap(({ text }) => titleIdsIn(text));
  expect(ids.length).toBeGreaterThan(150);
  expect(ids.filter((id) => !Object.hasOwn(claims, id))).toEqual([]);
});

test("no id means two claims", () => {
  const ids = Object.values(CLAIMS).flatMap((claims) => Object.keys(claims));
  expect(ids).toEqual([...new Set(ids)]);
});

test("the page of figures has the number of claims of each kind", () => {
  const page = readFileSync("docs/figures.md", "utf8");
  for (const [kind, rows] of Object.entries(CLAIMS))
    expect(page).toContain(`| ${kind}s | ${Object.keys(rows).length} |`);
});

function titleIdsIn(text: string): string[] {
  return [...text.matchAll(TITLE)].flatMap(([, ids = ""]) => ids.split(", "));
}

function verifiedIdsIn(text: string): string[] {
  return [...text.matchAll(VERIFIES)].flatMap(
    ([, id, ids = ""]) => id ?? [...ids.matchAll(/"([^"]+)"/g)].map(([, each = ""]) => each),
  );
}
