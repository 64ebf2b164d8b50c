import { expect, test } from "vitest";
import { promptValue, resourceValue, toolValue } from "./result-value.ts";

const image = { type: "image" as const, mimeType: "image/png", data: "aGVsbG8=" };

test("structured content comes before text", () => {
  const content = [{ type: "text" as const, text: "two" }];
  expect(toolValue({ content, structuredContent: { count: 2 } })).toEqual({ count: 2 });
});

test("texts are joined; JSON is parsed unless digits would be lost", () => {
  const text = (...texts: string[]) =>
    toolValue({ content: texts.map((each) => ({ type: "text", text: each })) });
  expect(text("a", "b")).toBe("a\nb");
  expect(text('{"a":[1]}')).toEqual({ a: [1] });
  expect(text('{"id":12345678901234567890}')).toBe('{"id":12345678901234567890}');
  expect(text("{not json")).toBe("{not json");
  expect(text("42")).toBe("42");
  expect(toolValue({ content: [] })).toBe("");
});

test("content other than text is described and kept", () => {
  expect(toolValue({ content: [{ type: "text", text: "see" }, image] })).toEqual({
    text: "see",
    blocks: [{ type: "image", mimeType: "image/png", bytes: 5, data: "aGVsbG8=" }],
  });
  const resource = { uri: "a://b", mimeType: "text/plain", text: "body" };
  expect(toolValue({ content: [{ type: "resource", resource }] })).toEqual({
    blocks: [{ type: "resource", ...resource }],
  });
  expect(toolValue({ content: [image], structuredContent: [] })).toMatchObject({ structured: [] });
});

test("a resource with one text becomes that text", () => {
  expect(resourceValue({ contents: [{ uri: "a://b", text: "body" }] })).toBe("body");
  expect(resourceValue({ contents: [{ uri: "a://b", blob: "aGVsbG8=" }] })).toEqual([
    { uri: "a://b", bytes: 5, data: "aGVsbG8=" },
  ]);
});

test("a prompt keeps its roles", () => {
  const messages = [
    { role: "user" as const, content: { type: "text" as const, text: "Hi" } },
    { role: "assistant" as const, content: image },
  ];
  expect(promptValue({ messages })).toMatchObject({
    messages: [
      { role: "user", content: "Hi" },
      { role: "assistant", content: { type: "image", bytes: 5 } },
    ],
  });
});

test("a text that a server wraps into one field stays text", () => {
  const content = [{ type: "text" as const, text: "Sunny." }];
  expect(toolValue({ content, structuredContent: { result: "Sunny." } })).toBe("Sunny.");
  expect(toolValue({ content, structuredContent: { result: "Rain." } })).toEqual({ result: "Rain." });
  expect(toolValue({ content, structuredContent: { result: "Sunny.", at: 3 } })).toEqual({
    result: "Sunny.",
    at: 3,
  });
});
