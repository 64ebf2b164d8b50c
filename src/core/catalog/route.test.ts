import { describe, expect, test } from "vitest";
import { opToRoute, parseRoute, plainToolOp, routeToOp } from "./route.ts";

describe("parseRoute", () => {
  test.each([
    ["onto://tools/task/list", { domain: "onto", kind: "tool", path: "task/list" }],
    ["a://resources/x", { domain: "a", kind: "resource", path: "x" }],
    ["my-shop_2://skills/set.up/SKILL.md", { domain: "my-shop_2", kind: "skill", path: "set.up/SKILL.md" }],
    ["Docs://prompts/größe?x=1#y", { domain: "Docs", kind: "prompt", path: "größe?x=1#y" }],
    ["d://tools/...", { domain: "d", kind: "tool", path: "..." }],
    ["d://tools/.hidden/a..b", { domain: "d", kind: "tool", path: ".hidden/a..b" }],
  ] as const)("reads %s", (text, route) => {
    expect(parseRoute(text)).toEqual(route);
  });

  test.each([
    "",
    "onto",
    "onto://",
    "onto://tools",
    "onto://tools/",
    "://tools/x",
    "onto:/tools/x",
    "onto//tools/x",
    "1onto://tools/x",
    "-onto://tools/x",
    "on.to://tools/x",
    "see onto://tools/x",
    "onto://tools/a b",
    "onto://tools/a\u0007b",
    "onto://tools/x\n",
    "\nonto://tools/x",
    "onto://tool/x",
    "onto://Tools/x",
    "onto://constructor/x",
    "onto:///x",
    "onto://tools//x",
    "onto://tools/a//b",
    "onto://tools/x/",
    "onto://tools/./x",
    "onto://tools/a/../b",
    "onto://tools/..",
    "onto://tools/.",
  ])("refuses %j", (text) => {
    expect(parseRoute(text)).toBeUndefined();
  });

  test("refuses more than 512 characters", () => {
    const start = "d://tools/";
    const longest = start + "x".repeat(512 - start.length);
    expect(parseRoute(longest)?.path).toHaveLength(502);
    expect(parseRoute(`${longest}x`)).toBeUndefined();
  });
});

test.each([
  ["tool", "onto.task.list"],
  ["resource", "onto.resources.task.list"],
  ["skill", "onto.skills.task.list"],
  ["prompt", "onto.prompts.task.list"],
] as const)("a %s has the op %s", (kind, op) => {
  expect(routeToOp({ domain: "onto", kind, path: "task/list" })).toBe(op);
});

test.each([
  ["onto.task.list", "onto", "onto://tools/task/list"],
  ["onto.list", "onto", "onto://tools/list"],
  ["onto", "onto", undefined],
  ["other.list", "onto", undefined],
  ["list", "onto", undefined],
  ["", "onto", undefined],
])("the op %j in the domain %s is the route %j", (op, domain, route) => {
  expect(opToRoute(op, domain)).toBe(route);
});

test.each([
  ["up://tools/get_page", "up.get_page"],
  ["up://tools/page.get", "up.page.get"],
  ["up://tools/page/get", undefined],
  ["up://tools/..", undefined],
  ["up://tools/a b", undefined],
  ["up://tools/", undefined],
  ["up://resources/page", undefined],
  ["other://tools/page", undefined],
  [`up://tools/${"a".repeat(512)}`, undefined],
])("the short way to the op of %s gives %s, as the long way does", (route, op) => {
  expect(plainToolOp(route, "up")).toBe(op);
  if (op !== undefined) expect(routeToOp(parseRoute(route)!)).toBe(op);
});
