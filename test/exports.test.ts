import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";

const { exports: doors } = JSON.parse(readFileSync("package.json", "utf8")) as {
  exports: Record<string, string>;
};

test.each(Object.entries(doors))("the exported names of %s", async (_, file) => {
  const names = Object.keys(await import(resolve(file))).sort();
  expect(names).toMatchSnapshot();
});
