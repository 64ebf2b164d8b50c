import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { SHIPPED_FILES, shippedPages } from "../scripts/shipped-pages.ts";
import { docBlocks, PAGES } from "./doc-blocks.ts";
import { publicDoors } from "./public-api.ts";

/** Pages of documentation; the README names the first of them. */
const DOCS = globSync("docs/*.md").sort();
/** Packages that a small program may use: those that a user of Keyhole has beside it. */
const BESIDE = ["zod", "ai", "@modelcontextprotocol/client"];
/** The page of figures is for people with a clone, and says so at its top. */
const OF_A_CLONE = "docs/figures.md";
/** The npm commands of this page are those of the reader's own project. */
const OF_ANY_PROJECT = "docs/permissions.md";

const read = (page: string) => readFileSync(page, "utf8");

test("the README has at most 150 lines", () => {
  expect(read("README.md").trimEnd().split("\n").length).toBeLessThanOrEqual(150);
});

test("blocks that repeat an example match the file, and CI runs the file", () => {
  const repeated = docBlocks().filter(({ file }) => file !== undefined);
  expect(repeated.length).toBeGreaterThan(15);
  for (const { file = "", code } of repeated) expect(code).toBe(read(file));
  // A file that is not run itself is a part of a walkthrough beside it.
  const parts = repeated.filter(({ file = "" }) => !/\/programs\/|\/walkthrough\.ts$/.test(file));
  for (const { file = "" } of parts)
    expect(existsSync(join(dirname(file), "walkthrough.ts")), file).toBe(true);
});

test("the small programs have less than 40 lines and use the public API alone", () => {
  const programs = globSync("examples/programs/*.ts");
  expect(programs.length).toBeGreaterThanOrEqual(8);
  const allowed = [...publicDoors().map(([path]) => path), ...BESIDE];
  for (const program of programs) {
    const text = read(program);
    expect(text.trimEnd().split("\n").length, program).toBeLessThan(40);
    const imports = [...text.matchAll(/from "([^"]+)"/g)].map(([, name = ""]) => name);
    expect(imports.filter((name) => !name.startsWith("node:") && !allowed.includes(name))).toEqual([]);
  }
});

test("every small program stands on a page", () => {
  const shown = docBlocks().map(({ file }) => file);
  expect(globSync("examples/programs/*.ts").filter((program) => !shown.includes(program))).toEqual([]);
});

test("each page of the documentation says in its first line for whom it is", () => {
  const silent = DOCS.filter((page) => !/^# .+\n\nFor (?:people|everybody)\b/.test(read(page)));
  expect(silent).toEqual([]);
});

test("the table of contents names every page", () => {
  const contents = read("docs/README.md");
  const missing = DOCS.filter((page) => !contents.includes(`](${page.slice("docs/".length)})`));
  expect(missing).toEqual(["docs/README.md"]);
});

test("links have targets, also inside a page", () => {
  const broken = PAGES.flatMap((page) =>
    [...read(page).matchAll(/\]\((?!https?:)([^)\s#]*)(?:#([^)\s]+))?\)/g)].flatMap(
      ([link, path, anchor]) => {
        const target = path ? join(dirname(page), path) : page;
        if (!existsSync(target)) return `${page}: ${link}`;
        if (!anchor || statSync(target).isDirectory()) return [];
        return anchorsOf(target).includes(anchor) ? [] : `${page}: ${link}`;
      },
    ),
  );
  expect(broken).toEqual([]);
});

test("the pages of the package link to files that it has, or to the repository", () => {
  const { repository } = JSON.parse(read("package.json"));
  const pages = shippedPages(repository.url);
  expect([...pages.keys()]).toEqual(expect.arrayContaining(["README.md", ...DOCS]));
  const broken = [...pages].flatMap(([page, text]) =>
    [...text.matchAll(/\]\((?!https?:|#)([^)\s#]+)/g)]
      .map(([, path = ""]) => join(dirname(page), path))
      .filter(
        (target) =>
          !existsSync(target) || !(SHIPPED_FILES.includes(target) || /^docs\/(?!decisions)/.test(target)),
      )
      .map((target) => `${page}: ${target}`),
  );
  expect(broken).toEqual([]);
  expect(pages.get("README.md")).toContain("](https://github.com/");
});

test("every npm command in the docs is a script", () => {
  const { scripts } = JSON.parse(read("package.json"));
  const named = PAGES.flatMap((page) =>
    [...read(page).matchAll(/npm run (?:-s )?([a-z:]+)/g)].map((match) => match[1]),
  );
  for (const name of named) expect(scripts).toHaveProperty([name ?? ""]);
});

test("pages talk to people without a clone: what needs one says so", () => {
  const pages = ["README.md", ...DOCS].filter((page) => ![OF_A_CLONE, OF_ANY_PROJECT].includes(page));
  const unclear = pages.flatMap((page) =>
    read(page)
      .split(/^(?=#+ )/m)
      .filter((part) => /`(?:npm (?:run|ci|start|test)\b|node scripts\/)/.test(part) && !/clone/i.test(part))
      .map((part) => `${page}: ${part.split("\n")[0]}`),
  );
  expect(unclear).toEqual([]);
});

/** The anchors of the headings of a page, as GitHub makes them. */
function anchorsOf(page: string): string[] {
  return [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .replace(/[^\p{L}\p{N}_\- ]/gu, "")
      .replaceAll(" ", "-"),
  );
}
