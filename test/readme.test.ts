import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

test("README snippets match the examples that CI runs", () => {
  const pages = globSync(["*.md", "docs/**/*.md"]).map((page) => readFileSync(page, "utf8"));
  const snippets = pages.flatMap((text) => [
    ...text.matchAll(/<!-- (examples\/\S+) -->\n```ts\n([\s\S]*?)```/g),
  ]);
  expect(snippets.length).toBeGreaterThan(0);
  for (const [, file, code] of snippets) expect(code).toBe(readFileSync(file ?? "", "utf8"));
});

test("links have targets", () => {
  const pages = globSync(["*.md", "docs/**/*.md"]);
  const broken = pages.flatMap((page) =>
    [...readFileSync(page, "utf8").matchAll(/\]\((?!https?:)([^)#]+)/g)]
      .map(([, target]) => join(dirname(page), target ?? ""))
      .filter((target) => !existsSync(target)),
  );
  expect(broken).toEqual([]);
});

test("every npm command in the docs is a script", () => {
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8"));
  const pages = globSync(["*.md", "docs/**/*.md"]).map((page) => readFileSync(page, "utf8"));
  const named = pages.flatMap((text) => [...text.matchAll(/npm run ([a-z]+)/g)].map((match) => match[1]));
  for (const name of named) expect(scripts).toHaveProperty(name ?? "");
});
