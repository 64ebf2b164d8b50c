import { expect, test } from "vitest";
import { matchTemplate } from "./uri-template.ts";

test.each([
  ["note://day/{day}/text", "note://day/monday/text", { day: "monday" }],
  ["note://day/{day}/text", "note://day/a%20b/text", { day: "a b" }],
  ["note://day/{day}/text", "note://day/a/b/text", undefined],
  ["note://day/{day}/text", "note://day//text", undefined],
  ["note://day/{day}/text", "note://day/monday/texts", undefined],
  ["d://resources/{+path}", "d://resources/a/b/c", { path: "a/b/c" }],
  ["d://resources/{+path}", "d://resources/", undefined],
  ["d://{one}-{two}", "d://a-b", { one: "a", two: "b" }],
  ["d://match{?query,mode}", "d://match?query=x%20y&mode=full&other=1", { query: "x y", mode: "full" }],
  ["d://match{?query}", "d://match", {}],
  ["d://match{?query}", "d://matches?query=x", undefined],
  ["d://{__proto__}", "d://x", { ["__proto__"]: "x" }],
  ["d://{open", "d://{open", {}],
  ["d://static", "d://static", {}],
  ["d://static", "d://static/more", undefined],
])("%s against %s", (template, uri, expected) => {
  const found = matchTemplate(template, uri);
  expect(found && [...found]).toEqual(expected && Object.entries(expected));
});

test("stays fast for hostile templates and refuses overlong URIs", () => {
  const template = `d://${"{+a}x".repeat(800)}`;
  expect(matchTemplate(template, `d://${"x".repeat(4_000)}!`)).toBeUndefined();
  expect(matchTemplate("d://{a}", `d://${"x".repeat(1_000_000)}`)).toBeUndefined();
});
