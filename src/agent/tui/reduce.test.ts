import fc from "fast-check";
import { expect, test } from "vitest";
import { answer, cancelled, told } from "../../../test/scripted-agent.ts";
import { knowSecrets } from "../../base/safety/known-secrets.ts";
import { type ChatState, NEW_CHAT } from "./chat-state.ts";
import { blockText } from "./plain-chat.ts";
import { type ChatEvent, reduce } from "./reduce.ts";

const USAGE = { input: 10, output: 5, cached: 1 };

test("an answer grows as it arrives and is finished paragraph by paragraph", async () => {
  const events: ChatEvent[] = [{ type: "turn-start", prompt: "Why?" }];
  for await (const event of answer("First.\n\nSecond **one**.")) events.push(event);
  const before = play(events.slice(0, -3));
  expect(before.phase).toBe("running");
  expect(before.done.map(blockText)).toEqual(["> Why?", "First."]);
  expect(before.live.map(blockText).join("")).toContain("Second");
  // The turn may go on after the last event, so no input is accepted until it ends.
  expect(play(events).phase).toBe("running");
  const after = play([...events, { type: "turn-end" }]);
  expect(after.phase).toBe("idle");
  expect(after.live).toEqual([]);
  expect(after.done.map(blockText)).toEqual(["> Why?", "First.", "Second **one**."]);
});

test("parallel calls keep their order, whichever ends first", () => {
  const start = (callId: string) => told({ type: "tool-start", callId, tool: callId, args: { n: 1 } });
  const end = (callId: string, ok: boolean) =>
    told({ type: "tool-end", callId, tool: callId, ok, text: "done", ms: 12 });
  const one = play([{ type: "turn-start", prompt: "x" }, start("a"), start("b"), end("b", false)]);
  expect(one.done).toHaveLength(1);
  expect(one.live.map((block) => block.kind === "tool" && block.status)).toEqual(["running", "failed"]);
  const two = reduce(one, end("a", true));
  expect(two.live).toEqual([]);
  expect(two.done.slice(1).map(blockText)).toEqual([
    '[ok] a {"n":1} (12 ms): done',
    '[failed] b {"n":1} (12 ms): done',
  ]);
});

test.each([
  ["exec", { op: "tasks.add", args: { title: "Water" } }, 'tasks.add {"title":"Water"}'],
  [
    "get",
    { routes: ["shop.orders", { route: "shop.order", params: { id: 1 } }] },
    'shop.orders, shop.order {"id":1}',
  ],
  ["exec", { title: "no op" }, '{"title":"no op"}'],
  ["ask", { query: "orders of today" }, "orders of today"],
])("a call of %s shows the tool that it calls", (tool, args, shown) => {
  const [block] = reduce(NEW_CHAT, told({ type: "tool-start", callId: "a", tool, args })).live;
  expect(block).toMatchObject({ tool, args: shown });
});

test("a permission keeps all of its action and its reason", () => {
  const long = `\u202e${"word ".repeat(20_000)}end`;
  const asked = reduce(
    NEW_CHAT,
    told({
      type: "permission-request",
      callId: "a",
      scope: "shell-run",
      action: long,
      reason: long,
      always: [],
    }),
  );
  expect(asked.permissions).toEqual([
    { number: 1, callId: "a", scope: "shell-run", action: long, reason: long, always: [] },
  ]);
});

test("permissions queue up, and an answer takes one away", () => {
  const request = (callId: string) =>
    told({
      type: "permission-request",
      callId,
      scope: "shell-run",
      action: "rm\u202e -rf",
      reason: "",
      always: [],
    });
  const start = (callId: string) => told({ type: "tool-start", callId, tool: "shell", args: "ls" });
  const asked = play([start("a"), start("b"), request("a"), request("b")]);
  // The action stays whole, because the dialog shows all of it.
  expect(asked.permissions.map(({ callId, action }) => [callId, action])).toEqual([
    ["a", "rm\u202e -rf"],
    ["b", "rm\u202e -rf"],
  ]);
  const answered = reduce(asked, told({ type: "permission-answer", callId: "a", answer: "once" }));
  expect(answered.permissions.map(({ callId }) => callId)).toEqual(["b"]);
});

test("cancelling closes open blocks", () => {
  const events: ChatEvent[] = [
    { type: "turn-start", prompt: "x" },
    told({ type: "llm-text", step: 1, text: "Half of" }),
    told({ type: "tool-start", callId: "a", tool: "shell", args: {} }),
    { type: "cancel" },
    cancelled(),
    { type: "turn-end" },
  ];
  expect(play(events.slice(0, 4)).phase).toBe("cancelling");
  const state = play(events);
  expect(state.phase).toBe("idle");
  expect(state.done.map(blockText)).toEqual(["> x", "Half of", "[cancelled] shell {}", "Cancelled."]);
});

test("the reason why a run ended is shown", () => {
  const end = (outcome: "step-limit" | "failed", error?: { code: string; message: string; next: string }) =>
    play([
      told({ type: "agent-end", outcome, text: "", usage: USAGE, steps: 1, ...(error && { error }) }),
    ]).done.map(blockText);
  expect(end("step-limit")).toEqual(["Stopped: the step limit was reached. Send a line to continue."]);
  expect(end("failed", { code: "C", message: "No.", next: "Do." })).toEqual(["C: No.\nDo."]);
});

test("no event puts an escape sequence on the screen", () => {
  const hostile = "\u001b]0;owned\u0007\u001b[2Jtext\u009b31m\u202e";
  const state = play([
    { type: "turn-start", prompt: hostile },
    told({ type: "llm-text", step: 1, text: hostile }),
    told({ type: "llm-text", step: 1, text: "\u001b" }),
    told({ type: "llm-text", step: 1, text: "[2J" }),
    told({ type: "llm-retry", attempt: 1, delayMs: 10, reason: hostile }),
    told({ type: "tool-start", callId: "a", tool: hostile, args: { [hostile]: hostile } }),
    told({ type: "tool-end", callId: "a", tool: hostile, ok: true, text: hostile, ms: 1, diff: hostile }),
    told({ type: "notice", text: hostile }),
    { type: "turn-failed", code: hostile, message: hostile, next: hostile },
    { type: "resumed", messages: [{ role: "assistant", text: hostile }] },
  ]);
  const shown = state.done.map(blockText).join("\n");
  expect(shown).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_Control}]/u);
  expect(shown).toContain("text");
});

test("a joined emoji that arrives in pieces stays one", () => {
  const state = play([
    { type: "turn-start", prompt: "hi" },
    ...["👩", "\u200d", "💻 می", "\u200c", "خواهم"].map((text) => told({ type: "llm-text", step: 1, text })),
    told({
      type: "agent-end",
      outcome: "answered",
      text: "",
      usage: { input: 0, output: 0, total: 0 },
    } as never),
  ]);
  expect(JSON.stringify(state)).toContain("👩\u200d💻 می\u200cخواهم");
});

test("an answer in any pieces arrives whole and in order", () => {
  const line = fc.constantFrom("word", "", "```ts", "```", "- item", "# Head", "x".repeat(3_000), "~~~");
  fc.assert(
    fc.property(fc.array(line, { maxLength: 30 }), fc.integer({ min: 1, max: 50 }), (lines, size) => {
      const text = lines.join("\n");
      const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
        told({ type: "llm-text", step: 1, text: text.slice(index * size, (index + 1) * size) }),
      );
      const { done, live } = play([
        ...pieces,
        told({ type: "llm-end", step: 1, text, usage: USAGE, finish: "stop" }),
      ]);
      expect(live).toEqual([]);
      // Only fences may be closed and reopened around a split.
      const words = (each: string) => each.split("\n").filter((one) => one.trim() && !/^(```|~~~)/.test(one));
      expect(done.flatMap((block) => words(blockText(block)))).toEqual(words(text));
    }),
    { numRuns: 60 },
  );
});

function play(events: readonly ChatEvent[]): ChatState {
  return events.reduce(reduce, NEW_CHAT);
}

test("a secret that a model or a tool echoes is hidden, also if it comes in pieces", () => {
  const secret = "echoed-key-0123456789-abcdef";
  knowSecrets([secret]);
  const state = [
    told({ type: "llm-text", step: 1, text: `The key is ${secret.slice(0, 12)}` }),
    told({ type: "llm-text", step: 1, text: `${secret.slice(12)}.` }),
    told({
      type: "llm-end",
      step: 1,
      text: "",
      usage: { input: 1, output: 1, cached: 0 },
      finish: "tool-calls",
    }),
    told({ type: "tool-start", callId: "c1", tool: "shell", args: { command: `echo ${secret}` } }),
    told({ type: "tool-output", callId: "c1", text: `${secret}\n` }),
    told({ type: "tool-end", callId: "c1", tool: "shell", ok: true, text: secret, ms: 1 }),
    told({ type: "notice", text: secret }),
  ].reduce(reduce, NEW_CHAT);
  expect(JSON.stringify(state)).not.toContain(secret);
  expect(JSON.stringify(state.done)).toContain("The key is [secret].");
});
