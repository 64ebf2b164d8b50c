import { expect, test } from "vitest";
import { rewriteQuery } from "./rewrite-query.ts";

test.each([
  ["go to google.com", "navigate to URL"],
  ["open https://example.com/a?b=c", "navigate to URL"],
  ["visit the web page", "navigate to URL"],
  ["merke dir den Namen", "remember memory"],
  ["mark the task as done", "update"],
  ["please set the priority to high", "update"],
  ["move the deadline to Friday", "update"],
  ["close the ticket", "update"],
  ["reassign it to Mia", "update"],
  ["get rid of the old spec", "delete remove"],
  ["throw the whole plan away", "delete remove"],
  ["start a new project", "create"],
])("%s also asks for %s", (query, meaning) => {
  expect(rewriteQuery(query)).toBe(`${query} ${meaning}`);
});

test.each([
  "which tasks are marked as done",
  "set up the server",
  "how close is the ticket",
  "open the file notes.txt",
  "go to the next page",
  "load config.json",
  "create a pull request",
])("%s stays as it is", (query) => {
  expect(rewriteQuery(query)).toBe(query);
});
