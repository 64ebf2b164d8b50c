import { expect, test } from "vitest";
import { hideSecrets, knowSecrets, reveal, SEVERAL_LINES } from "./known-secrets.ts";

test("known secrets are replaced in text and throughout a value; others stay", () => {
  knowSecrets(["first-secret-1"]);
  expect(hideSecrets("a first-secret-1 b second-secret-2")).toBe("a [secret] b second-secret-2");
  knowSecrets(["second-secret-2"]);
  expect(hideSecrets({ deep: ["second-secret-2", "first-secret-1"] })).toEqual({
    deep: ["[secret]", "[secret]"],
  });
});

test("short and common values stay, but short ones of letters and digits are secrets", () => {
  knowSecrets(["a1b2c3"]);
  expect(hideSecrets("x a1b2c3")).toBe("x [secret]");
  knowSecrets(["abc12", "password", "x"]);
  expect(hideSecrets("abc12 password x")).toBe("abc12 password x");
});

test("of more than a thousand the oldest are forgotten, and one that is used again is young", () => {
  knowSecrets(["oldest-secret-0", "again-secret-0"]);
  const many = Array.from({ length: 1_000 }, (_, at) => `many-secret-${at}`);
  knowSecrets(many.slice(0, 500));
  knowSecrets(["again-secret-0"]);
  knowSecrets(many.slice(500));
  expect(hideSecrets("again-secret-0 many-secret-400 many-secret-999")).toBe("[secret] [secret] [secret]");
  expect(hideSecrets("oldest-secret-0")).toBe("oldest-secret-0");
});

test("a secret is a value or a function, and is known once it is revealed", async () => {
  expect(await reveal("plain-secret-1", "api")).toBe("plain-secret-1");
  expect(await reveal(() => "called-secret-1", "api")).toBe("called-secret-1");
  expect(await reveal(async () => "awaited-secret-1", "api")).toBe("awaited-secret-1");
  expect(hideSecrets("plain-secret-1 called-secret-1 awaited-secret-1")).toBe("[secret] [secret] [secret]");
});

test.each<[string, never]>([
  ["that is empty", "" as never],
  ["of several lines", "one\ntwo" as never],
  ["with control characters", "one\u0000two" as never],
  ["that ends its line", "secret-value\n" as never],
  ["that is no text", 7 as never],
  ["that is missing", undefined as never],
  ["whose function fails", (() => Promise.reject(new Error("secret-value"))) as never],
  ["whose function answers with no text", (() => undefined) as never],
])("a secret %s needs a login, and no message quotes it", async (_, secret) => {
  const caught = await reveal(secret, "api").catch((error: unknown) => error);
  expect(caught).toMatchObject({ code: "LOGIN_NEEDED" });
  expect(String(caught)).toMatch(/api.*its credentials cannot be read/);
  expect(JSON.stringify(caught)).not.toMatch(/secret-value|one/);
});

test("keys of several lines are secrets where that form is asked for", async () => {
  const key = "-----BEGIN KEY-----\r\nabc\n-----END KEY-----\n";
  expect(await reveal(key, "api", SEVERAL_LINES)).toBe(key);
  await expect(reveal("a\u0007b", "api", SEVERAL_LINES)).rejects.toMatchObject({ code: "LOGIN_NEEDED" });
});
