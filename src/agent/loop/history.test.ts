import type { ModelMessage } from "ai";
import fc from "fast-check";
import { expect, test } from "vitest";
import { closeHistory, toResult } from "./history.ts";

const call = (...ids: string[]): ModelMessage => ({
  role: "assistant",
  content: ids.map((id) => ({ type: "tool-call" as const, toolCallId: id, toolName: "work", input: {} })),
});
const result = (...ids: string[]): ModelMessage => ({
  role: "tool",
  content: ids.map((id) => toResult(id, "work", "done", true)),
});
const say = (role: "user" | "assistant"): ModelMessage => ({ role, content: "words" });

test("after any cut every call is followed by its one result", () => {
  const id = fc.constantFrom("a", "b", "c", "d");
  const message = fc.oneof(
    fc.uniqueArray(id, { minLength: 1 }).map((ids) => call(...ids)),
    fc.uniqueArray(id, { minLength: 1 }).map((ids) => result(...ids)),
    fc.constantFrom(say("user"), say("assistant")),
  );
  fc.assert(
    fc.property(fc.array(message, { maxLength: 20 }), (messages) => {
      const closed = closeHistory(messages);
      let open = new Set<string>();
      for (const { role, content } of closed) {
        if (role !== "tool") expect(open).toEqual(new Set());
        for (const part of typeof content === "string" ? [] : content) {
          if (part.type === "tool-call") open.add(part.toolCallId);
          if (part.type === "tool-result") expect(open.delete(part.toolCallId)).toBe(true);
        }
      }
      expect(open).toEqual(new Set());
      open = new Set();
      expect(closeHistory(closed)).toEqual(closed);
    }),
  );
});

test("a complete history is not changed", () => {
  const messages = [say("user"), call("a", "b"), result("b"), result("a"), say("assistant")];
  expect(closeHistory(messages).every((message, at) => message === messages[at])).toBe(true);
});
