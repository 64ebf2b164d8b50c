import { expect, test } from "vitest";
import { matchTemplate } from "./resources.ts";

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
  ["", "", {}],
  ["d://a{x}", "e://ab", undefined],
  ["{x}://a", "d://a", { x: "d" }],
  ["d://{one}{two}", "d://ab", undefined],
  ["d://{+path}/end", "d://a/end/b/end", { path: "a/end/b" }],
  ["d://{+path}/end", "d:///end", undefined],
  ["d://{a}x{b}", "d://xxy", { a: "x", b: "y" }],
  ["d://{a}-{b}/end", "d://1-2-3/end", { a: "1", b: "2-3" }],
  ["d://{a}", "d://%E0%A4%A", { a: "%E0%A4%A" }],
  ["d://{a}", "d://a%2Fb", { a: "a/b" }],
  ["d://{a}?fixed", "d://x?fixed", { a: "x" }],
  ["d://{a}{?q}", "d://x?q=1&q=2", { a: "x", q: "2" }],
  ["d://{a}{?q}", "d://x?q=a?b", { a: "x", q: "a?b" }],
  ["d://{a}{?q}", "d://x?", { a: "x" }],
  ["d://{?q}/x", "d://y/x", { "?q": "y" }],
  ["{?q}", "?q=1", { q: "1" }],
  ["d://}{a}", "d://}x", { a: "x" }],
  ["d://x}", "d://x}", {}],
])("%s against %s", (template, uri, expected) => {
  const found = matchTemplate(template, uri);
  expect(found && [...found]).toEqual(expected && Object.entries(expected));
});

test("takes up to 4,096 characters of either", () => {
  const text = `d://${"x".repeat(4_092)}`;
  expect(matchTemplate("d://{a}", text)?.get("a")).toHaveLength(4_092);
  expect(matchTemplate(text, text)?.size).toBe(0);
  expect(matchTemplate("d://{a}", `${text}x`)).toBeUndefined();
  expect(matchTemplate(`d://{${"x".repeat(4_090)}}`, "d://y")?.size).toBe(1);
  expect(matchTemplate(`d://{${"x".repeat(4_091)}}`, "d://y")).toBeUndefined();
});

test("stays fast for hostile templates and refuses overlong URIs", () => {
  const template = `d://${"{+a}x".repeat(800)}`;
  expect(matchTemplate(template, `d://${"x".repeat(4_000)}!`)).toBeUndefined();
  expect(matchTemplate("d://{a}", `d://${"x".repeat(1_000_000)}`)).toBeUndefined();
});
