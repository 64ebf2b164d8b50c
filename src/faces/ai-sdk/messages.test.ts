import type { ModelMessage } from "ai";
import fc from "fast-check";
import { expect, test } from "vitest";
import { trimMessages } from "./messages.ts";

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

const asked = (id: string): ModelMessage => ({
  role: "assistant",
  content: [
    { type: "tool-call", toolCallId: id, toolName: "work", input: {} },
    { type: "tool-approval-request", approvalId: `approval-${id}`, toolCallId: id },
  ],
});
const approved = (id: string): ModelMessage => ({
  role: "tool",
  content: [{ type: "tool-approval-response", approvalId: `approval-${id}`, approved: true }],
});

/** Realistic conversations: a system message, then turns of a user message, calls with results, an answer. */
const conversations = fc
  .array(fc.array(fc.tuple(fc.integer({ min: 1, max: 3 }), fc.boolean()), { maxLength: 6 }), {
    minLength: 1,
    maxLength: 12,
  })
  .map((turns) => {
    const messages: ModelMessage[] = [{ role: "system", content: "Be kind." }];
    turns.forEach((steps, turn) => {
      messages.push({ role: "user", content: `turn ${turn}` });
      steps.forEach(([count, asks], step) => {
        const ids = Array.from({ length: count }, (_, at) => `${turn}-${step}-${at}`);
        if (asks) messages.push(...ids.map(asked), ...ids.map(approved), ...ids.map(result));
        else messages.push(...ids.map(call), ...ids.map(result));
      });
      messages.push({ role: "assistant", content: "done" });
    });
    return messages;
  });

test("short conversations stay whole", () => {
  const messages: ModelMessage[] = Array.from({ length: 20 }, () => ({ role: "user", content: "again" }));
  expect(trimMessages(messages)).toEqual(messages);
});

test("a long conversation keeps the system message and the latest messages, in order", () => {
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

test("no result or approval without its call, and no call without its result", () => {
  fc.assert(
    fc.property(conversations, (messages) => {
      for (let keep = 0; keep <= messages.length; keep++) {
        const trimmed = trimMessages(messages, { most: 1, keep });
        const ids = (type: string, key: string) =>
          trimmed.flatMap(({ content }) =>
            (typeof content === "string" ? [] : (content as readonly Record<string, unknown>[]))
              .filter((part) => part.type === type)
              .map((part) => String(part[key])),
          );
        expect(ids("tool-result", "toolCallId").sort()).toEqual(ids("tool-call", "toolCallId").sort());
        expect(ids("tool-approval-response", "approvalId").sort()).toEqual(
          ids("tool-approval-request", "approvalId").sort(),
        );
      }
    }),
  );
});

test("a fresh approval is not separated from its request", () => {
  const messages = [{ role: "user" as const, content: "go" }, asked("a"), approved("a")];
  expect(trimMessages(messages, { most: 1, keep: 1 })).toEqual(messages);
});
