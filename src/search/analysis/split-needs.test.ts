import { expect, test } from "vitest";
import { queryVariants, rewriteQuery } from "./rewrite-query.ts";
import { splitNeeds } from "./split-needs.ts";

test.each([
  ["create an issue and email the team about it", ["create an issue", "email the team about it"]],
  [
    "Find flights to Rome, book a hotel, then send the plan to Ann",
    ["Find flights to Rome", "book a hotel", "send the plan to Ann"],
  ],
  ["List the newest orders. Refund the last one.", ["List the newest orders", "Refund the last one"]],
  ["查询北京天气，然后发送邮件给老板", ["查询北京天气", "发送邮件给老板"]],
])("%s", (query, needs) => {
  expect(splitNeeds(query)).toEqual(needs);
});

test.each([
  "search and replace text in a file",
  "black and white photos of cats and dogs",
  "open a pull request",
  "rock, paper, scissors",
  "",
  "copy and paste",
])("one need: %s", (query) => {
  expect(splitNeeds(query)).toEqual([query]);
});

test("a thing that people open, submit, file or raise is created", () => {
  expect(rewriteQuery("open a pull request")).toBe("open a pull request create pull request");
  expect(rewriteQuery("submit a PR for this branch")).toBe("submit a PR for this branch create pull request");
  expect(rewriteQuery("File a new bug")).toBe("File a new bug create bug create issue");
});

test.each([
  ["raise a PR", ["create pull request"]],
  ["merge the PR", ["merge the pull request"]],
  ["list PRs", ["list pull requests"]],
  ["fork this repo", ["fork this repository"]],
  ["list my folders", ["list my directories"]],
  ["file a bug", ["create bug", "create issue"]],
])("%s means %s", (query, meanings) => {
  expect(queryVariants(query)).toEqual(meanings);
});

test("everyday words are searched in the words of tools too", () => {
  expect(rewriteQuery("what is in this folder")).toBe("what is in this folder directory");
  expect(rewriteQuery("remember that Bob likes tea")).toBe("remember that Bob likes tea memory");
});

test("other queries stay as they are", () => {
  for (const query of [
    "open a file",
    "list open issues",
    "open pull requests",
    "raise the volume",
    "send an email",
  ]) {
    expect(rewriteQuery(query)).toBe(query);
    expect(queryVariants(query)).toEqual([]);
  }
});
