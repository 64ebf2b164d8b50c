import { describe, expect, test } from "vitest";
import { readBytes, readValue } from "./read-response.ts";

const typed = (type: string | undefined) => {
  const response = new Response(null);
  if (type !== undefined) response.headers.set("content-type", type);
  return response;
};
const read = (type: string | undefined, body: string | Uint8Array) =>
  readValue(typed(type), Buffer.from(body as string));

describe("readBytes", () => {
  const inParts = (...parts: string[]) =>
    new Response(
      new ReadableStream({
        start(controller) {
          for (const part of parts) controller.enqueue(new TextEncoder().encode(part));
          controller.close();
        },
      }),
      { headers: { "content-length": "1" } },
    );

  test("joins the parts", async () => {
    expect((await readBytes(inParts("ab", "cd", "e"), "api")).toString()).toBe("abcde");
    expect(await readBytes(new Response(null), "api")).toHaveLength(0);
  });

  test("counts the bytes that come, whatever the headers claim", async () => {
    expect(await readBytes(inParts("ab", "cd"), "api", 4)).toHaveLength(4);
    await expect(readBytes(inParts("ab", "cde"), "api", 4)).rejects.toMatchObject({
      code: "LIMIT_EXCEEDED",
      message: expect.stringMatching(/The answer of api.*over 4 bytes/),
    });
  });

  test("stops as soon as there are too many", async () => {
    let pulled = 0;
    const endless = new ReadableStream({
      pull(controller) {
        pulled += 1;
        controller.enqueue(new Uint8Array(10));
      },
    });
    await expect(readBytes(new Response(endless), "api", 35)).rejects.toThrow();
    expect(pulled).toBeLessThan(10);
  });
});

describe("readValue", () => {
  test.each([
    "application/json",
    "application/json; charset=utf-8",
    "Application/JSON",
    "application/problem+json",
    "application/vnd.api+json;version=1",
    "text/json",
  ])("parses %s", (type) => {
    expect(read(type, '{"a":1}')).toEqual({ a: 1 });
  });

  test("gives broken JSON as text", () => {
    expect(read("application/json", '{"a":')).toBe('{"a":');
  });

  test.each([
    "text/plain",
    "text/html; charset=utf-8",
    "application/xml",
    "application/atom+xml",
    "application/yaml",
    "application/x-yaml",
    "application/javascript",
    "application/graphql",
    "application/x-www-form-urlencoded",
    "text/jsonp",
  ])("gives %s as text", (type) => {
    expect(read(type, "1")).toBe("1");
  });

  test.each([
    "application/octet-stream",
    "image/png",
    "application/xmlish",
    "x/text/plain",
    "x-application/json",
    "application/a;b+json",
    "application/a;b+xml",
    "application/jsonx",
  ])("describes %s", (type) => {
    expect(read(type, "{}")).toEqual({ content_type: type, bytes: 2, base64: "e30=" });
  });

  test("guesses where no type is given: text is parsed, bytes are described", () => {
    expect(read(undefined, '{"a":1}')).toEqual({ a: 1 });
    expect(read(undefined, "words")).toBe("words");
    expect(read(undefined, "a\0b")).toEqual({
      content_type: "application/octet-stream",
      bytes: 3,
      base64: "YQBi",
    });
    expect(read(undefined, `${"x".repeat(1_024)}\0`)).toBe(`${"x".repeat(1_024)}\0`);
    expect(read(undefined, `${"x".repeat(1_023)}\0`)).toMatchObject({ bytes: 1_024 });
  });

  test.each(["application/json", "image/png", undefined])("gives an empty body of %s as null", (type) => {
    expect(read(type, "")).toBeNull();
  });

  test("leaves out what is larger than 256 KiB", () => {
    const most = 256 * 1_024;
    expect(read("image/png", new Uint8Array(most))).toHaveProperty("base64");
    expect(read("image/png", new Uint8Array(most + 1))).toEqual({
      content_type: "image/png",
      bytes: most + 1,
      note: "Over 262144 bytes, so the content is left out.",
    });
  });

  test.each([
    ["text/plain; charset=iso-8859-1", "ä"],
    ['text/plain; Charset="ISO-8859-1"', "ä"],
    ["text/plain", "\uFFFD"],
    ["text/plain; charset=unknown-1", "\uFFFD"],
  ])("decodes %s", (type, text) => {
    expect(read(type, new Uint8Array([0xe4]))).toBe(text);
  });

  test("decodes JSON by its charset too", () => {
    expect(read("application/json; charset=latin1", Buffer.from('"ä"', "latin1"))).toBe("ä");
  });
});
