import { expect, test } from "vitest";
import { PLANTED } from "../../../test/planted-secrets.ts";
import { createRedact } from "./redact.ts";
import { secretVariables } from "./secret-values.ts";

const redact = createRedact([], { kinds: true });

test.each(Object.entries(PLANTED))("%s goes from prose, JSON, code and URLs", (_, { secret, written }) => {
  for (const text of [
    written,
    `before ${written} after`,
    JSON.stringify({ note: written }),
    `(${written})`,
  ]) {
    expect(redact(text)).not.toContain(secret);
    expect(redact({ deep: [{ text }] }).deep[0]?.text).not.toContain(secret);
  }
});

test("replaces the value of a field whose name says secret", () => {
  const value = { apiKey: "plain words", db_password: "swordfish", nextPageToken: "abc1234567", tokens: 7 };
  expect(redact(value)).toEqual({
    apiKey: "[secret]",
    db_password: "[secret]",
    nextPageToken: "abc1234567",
    tokens: 7,
  });
});

test("keeps ordinary text", () => {
  const text = [
    "The password: string field and the token: Token type are declared in session.ts.",
    "Bearer tokens are needed. sk-learn is a library; the task-runner-of-the-week is npm_config.",
    "https://example.com/a?b=c and user@example.com; 2026-11-16T02:00:00Z; 3f2504e0-4f89-11d3-9a0c-0305e82c3301",
    "result://Zk3_a8s-PQ ses_8sjdkQ call_1",
  ].join("\n");
  expect(redact(text)).toBe(text);
});

test("finds secrets of an environment by variable names", () => {
  const env = {
    OPENAI_API_KEY: "abcdefghij",
    HOME: "/home/ada",
    SHORT_TOKEN: "abc",
    DB_PASSWORD: "long enough",
  };
  expect(secretVariables(env)).toEqual(["abcdefghij", "long enough"]);
});

test("long hostile text takes linear time", () => {
  const hostile = ["eyJ", "sk-", "password=", "://a:", "-----BEGIN PRIVATE KEY-----", "Bearer "];
  for (const text of hostile) expect(redact(text.repeat(200_000))).toBeTypeOf("string");
});
