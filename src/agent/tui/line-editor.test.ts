import fc from "fast-check";
import { expect, test } from "vitest";
import { EMPTY_DRAFT, edit, type InputDraft, keyToEdit, type LineEdit, typedText } from "./line-editor.ts";

test("several lines are edited like one", () => {
  const draft = play({ type: "insert", text: "one\ntwo" }, { type: "up" }, { type: "insert", text: "!" });
  expect(draft.text).toBe("one!\ntwo");
  expect(apply(draft, { type: "down" }, { type: "line-start" }, { type: "backspace" }).text).toBe("one!two");
  expect(apply(draft, { type: "line-start" }, { type: "delete-after" }).text).toBe("\ntwo");
});

test("words and graphemes are deleted whole", () => {
  const family = "👩‍👩‍👧";
  expect(play({ type: "insert", text: `a${family}` }, { type: "backspace" }).text).toBe("a");
  expect(play({ type: "insert", text: family }, { type: "line-start" }, { type: "delete" }).text).toBe("");
  expect(play({ type: "insert", text: "say hello  " }, { type: "delete-word" }).text).toBe("say ");
});

test("the cursor moves by words", () => {
  const back = play({ type: "insert", text: "one two  three" }, { type: "word-left" }, { type: "word-left" });
  expect(apply(back, { type: "insert", text: "|" }).text).toBe("one |two  three");
  expect(apply(back, { type: "word-right" }, { type: "insert", text: "|" }).text).toBe("one two|  three");
  const keys = [
    ["", { leftArrow: true, meta: true }],
    ["", { leftArrow: true, ctrl: true }],
    ["b", { meta: true }],
  ] as const;
  for (const [input, key] of keys) expect(keyToEdit(input, key)).toEqual({ type: "word-left" });
  expect(keyToEdit("f", { meta: true })).toEqual({ type: "word-right" });
});

test("the draft is restored at the end of the history", () => {
  const sent = play(
    { type: "insert", text: "first" },
    { type: "sent" },
    { type: "insert", text: "second" },
    { type: "sent" },
    { type: "insert", text: "draft" },
  );
  expect(apply(sent, { type: "up" }).text).toBe("second");
  expect(apply(sent, { type: "up" }, { type: "up" }, { type: "up" }).text).toBe("first");
  expect(apply(sent, { type: "up" }, { type: "down" }).text).toBe("draft");
});

test("the cursor stays inside the text after any edits", () => {
  const types = [
    "backspace",
    "delete",
    "delete-word",
    "delete-before",
    "delete-after",
    "left",
    "right",
    "up",
    "down",
    "line-start",
    "line-end",
    "sent",
    "clear",
  ] as const;
  const change: fc.Arbitrary<LineEdit> = fc.oneof(
    fc.record({ type: fc.constantFrom(...types) }),
    fc.record({ type: fc.constant("insert" as const), text: fc.string({ unit: "grapheme", maxLength: 5 }) }),
    fc.constant({ type: "insert" as const, text: "a\nb" }),
  );
  fc.assert(
    fc.property(fc.array(change, { maxLength: 40 }), (changes) => {
      const { text, cursor, place, history } = play(...changes);
      expect(cursor).toBeGreaterThanOrEqual(0);
      expect(cursor).toBeLessThanOrEqual(text.length);
      expect(place).toBeLessThanOrEqual(history.length);
      expect((text.slice(0, cursor) + text.slice(cursor)).isWellFormed()).toBe(text.isWellFormed());
    }),
  );
});

test("keys become edits, and control characters never become text", () => {
  expect(keyToEdit("a", { ctrl: true })).toEqual({ type: "line-start" });
  expect(keyToEdit("x", { meta: true })).toBeUndefined();
  expect(keyToEdit("", { backspace: true, meta: true })).toEqual({ type: "delete-word" });
  expect(keyToEdit("é", {})).toEqual({ type: "insert", text: "é" });
  expect(typedText("a\r\nb\u001b[2J\u0007")).toBe("a\nb[2J");
});

function play(...changes: readonly LineEdit[]): InputDraft {
  return apply(EMPTY_DRAFT, ...changes);
}

function apply(draft: InputDraft, ...changes: readonly LineEdit[]): InputDraft {
  return changes.reduce(edit, draft);
}
