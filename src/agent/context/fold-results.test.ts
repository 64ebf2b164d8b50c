import type { ModelMessage } from "ai";
import { expect, test } from "vitest";
import { loadTokenCounter } from "../../base/tokens/tokens.ts";
import { foldResults } from "./compact.ts";

const result = (id: string, value: string): ModelMessage => ({
  role: "tool",
  content: [{ type: "tool-result", toolCallId: id, toolName: "read", output: { type: "text", value } }],
});
const user = (content: string): ModelMessage => ({ role: "user", content });
const LONG = "A line of the file.\n".repeat(200);

test("large results of older turns stand behind handles; everything else stays as it is", async () => {
  const kept: string[] = [];
  const messages = [
    user("one"),
    result("1", LONG),
    result("2", "short"),
    user("two"),
    result("3", LONG),
    user("three"),
    result("4", LONG),
  ];
  const options = {
    countTokens: await loadTokenCounter(),
    store: async (text: string) => `result://${kept.push(text)}`,
  };
  const { messages: now, folded } = await foldResults(messages, options);
  expect(folded).toBe(1);
  expect(kept).toEqual([LONG]);
  expect(now.filter((_, index) => index !== 1)).toEqual(messages.filter((_, index) => index !== 1));
  const text = JSON.stringify(now[1]);
  expect(text).toContain("A line of the file.");
  expect(text).toMatch(/the whole result of [\d,]+ tokens can be read at result:\/\/1/);
  expect(text.length).toBeLessThan(LONG.length / 4);
  // Folding again changes nothing.
  expect(await foldResults(now, options)).toEqual({ messages: now, folded: 0 });
});

test("a store that fails folds nothing", async () => {
  const messages = [user("one"), result("1", LONG), user("two"), user("three")];
  const store = async () => {
    throw new Error("full");
  };
  expect(await foldResults(messages, { countTokens: await loadTokenCounter(), store })).toEqual({
    messages,
    folded: 0,
  });
});
