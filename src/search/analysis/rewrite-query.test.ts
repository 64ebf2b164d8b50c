import { expect, test } from "vitest";
import { rewriteQuery } from "./rewrite-query.ts";

test.each([
  ["go to google.com", "navigate to URL"],
  ["open https://example.com/a?b=c", "navigate to URL"],
  ["visit the web page", "navigate to URL"],
  ["merke dir den Namen", "remember memory"],
])("%s also asks for %s", (query, meaning) => {
  expect(rewriteQuery(query)).toBe(`${query} ${meaning}`);
});

test.each(["open the file notes.txt", "go to the next page", "load config.json", "create a pull request"])(
  "%s stays as it is",
  (query) => {
    expect(rewriteQuery(query)).toBe(query);
  },
);
