import type { ModelMessage } from "ai";
import fc from "fast-check";
import { expect, test } from "vitest";
import { trimMessages } from "./trim-messages.ts";

const call = (id: string): ModelMessage => ({
  role: "assistant",
  content: [{ type: "tool-call", toolCallId: id, toolName: "work", input: {} }],
});
const result = (id: string): ModelMessage => ({
  role: "tool",
  content: [
    { type: "tool-result", toolCallId: id, toolName: "work", output: { type: "text", value: "done" } },
  ],
});

/** Conversations as they are: a system message, then turns of a user, calls with their results, an answer. */
const conversations = fc
  .array(fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 6 }), { minLength: 1, maxLength: 12 })
  .map((turns) => {
    const messages: ModelMessage[] = [{ role: "system", content: "Be kind." }];
    turns.forEach((steps, turn) => {
      messages.push({ role: "user", content: `turn ${turn}` });
      steps.forEach((count, step) => {
        const ids = Array.from({ length: count }, (_, at) => `${turn}-${step}-${at}`);
        messages.push(...ids.map(call), ...ids.map(result));
      });
      messages.push({ role: "assistant", content: "done" });
    });
    return messages;
  });

test("short conversations stay whole", () => {
  const messages: ModelMessage[] = Array.from({ length: 20 }, () => ({ role: "user", content: "again" }));
  expect(trimMessages(messages)).toEqual(messages);
});

test("of long ones the system message and the latest stay, in their order", () => {
  fc.assert(
    fc.property(conversations, fc.integer({ min: 1, max: 15 }), (messages, keep) => {
      const trimmed = trimMessages(messages, { most: keep, keep });
      expect(trimmed[0]).toBe(messages[0]);
      expect(trimmed.slice(-Math.min(keep, messages.length))).toEqual(messages.slice(-keep));
      expect(messages.filter((message) => trimmed.includes(message))).toEqual(trimmed);
      expect(trimmed[1]?.role ?? "user").toBe("user");
    }),
  );
});

test("no result without its call, and no call without its result", () => {
  fc.assert(
    fc.property(conversations, fc.integer({ min: 1, max: 15 }), (messages, keep) => {
      const trimmed = trimMessages(messages, { most: keep, keep });
      const ids = (type: string) =>
        trimmed.flatMap(({ content }) =>
          typeof content === "string"
            ? []
            : content.flatMap((part) =>
                part.type === type && "toolCallId" in part ? [part.toolCallId] : [],
              ),
        );
      expect(ids("tool-result").sort()).toEqual(ids("tool-call").sort());
    }),
  );
});

test("an approval is not cut from what asked for it", () => {
  const asked: ModelMessage = {
    role: "assistant",
    content: [
      { type: "tool-call", toolCallId: "a", toolName: "work", input: {} },
      { type: "tool-approval-request", approvalId: "b", toolCallId: "a" },
    ],
  };
  const approved: ModelMessage = {
    role: "tool",
    content: [{ type: "tool-approval-response", approvalId: "b", approved: true }],
  };
  const messages: ModelMessage[] = [{ role: "user", content: "go" }, asked, approved];
  expect(trimMessages(messages, { most: 1, keep: 1 })).toEqual(messages);
});
