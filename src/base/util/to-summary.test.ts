import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toSummary } from "./to-summary.ts";

describe("toSummary", () => {
  it.each([
    ["Creates a task. Needs a title.", "Creates a task."],
    ["  Creates\n\ta   task ", "Creates a task"],
    ["Reads a file, e.g. notes.md, from disk. Then stops.", "Reads a file, e.g. notes.md, from disk."],
    ["Lists peers, i.e. Servers near by. Others not.", "Lists peers, i.e. Servers near by."],
    ["Supports v1.2 and Node.js 24.1. Nothing else.", "Supports v1.2 and Node.js 24.1."],
    ["Edits package.json. Careful!", "Edits package.json."],
    ["Reads logs, traces, etc. from a host. Slow.", "Reads logs, traces, etc. from a host."],
    ["Reads logs, traces, etc. Slow.", "Reads logs, traces, etc."],
    ["Follows the U.S. Code. Quotes it.", "Follows the U.S. Code."],
    ["Sets x. Then y.", "Sets x."],
    ["Waits... then goes on. Ends.", "Waits... then goes on."],
    ["1. Open it. 2. Close it.", "1. Open it."],
    ["Really? Yes.", "Really?"],
    ["Stops now! At once.", "Stops now!"],
    ['Says "done." Then ends.', 'Says "done."'],
    ["Runs (if asked.) Then ends.", "Runs (if asked.)"],
    ["创建任务。然后返回。", "创建任务。"],
    ["作成しますか？はい", "作成しますか？"],
    ["# Create task\n\nCreates a task.", "Create task"],
    ["## **Create** a task. Now.", "Create a task."],
    ["- Creates it. Now.", "Creates it."],
    ["`grep` for agents. Fast.", "`grep` for agents."],
    ["A\u0000\u001b[31mred\u0007 one. B", "A [31mred one."],
    [
      "Reads a file. Handles text. DEPRECATED: Use read_text instead. Slow.",
      "DEPRECATED: Use read_text instead.",
    ],
    ["Lists rooms.\n\nDeprecated since 2.0, use spaces.", "Deprecated since 2.0, use spaces."],
    ["Removes deprecated rooms. Now.", "Removes deprecated rooms."],
    ["Notes | Create a page\nError Responses:\n400: Bad request", "Notes | Create a page"],
    ["Search papers\n\tArgs: \n  query: words", "Search papers"],
    ["Creates an issue with\nthese fields:\n- title", "Creates an issue with these fields: - title"],
    ["", ""],
    ["...", "..."],
  ])("reads %j as %j", (description, summary) => {
    expect(toSummary(description)).toBe(summary);
  });

  it("is cut at a word", () => {
    expect(toSummary("one two three four", 18)).toBe("one two three four");
    expect(toSummary("one two three four", 14)).toBe("one two three…");
    expect(toSummary("one two three four", 13)).toBe("one two…");
    expect(toSummary("one two, three", 10)).toBe("one two…");
    expect(toSummary("abcdefghij", 5)).toBe("abcd…");
    expect(toSummary("abc", 1)).toBe("…");
    expect(toSummary("abc", 0)).toBe("");
  });

  it("does not part what is read as one character", () => {
    expect(toSummary("😀😀😀", 4)).toBe("😀…");
    expect(toSummary("abe\u0301\u0302cd", 5)).toBe("ab…");
    expect(toSummary("👩‍👩‍👧👩‍👩‍👧", 9)).toBe("👩‍👩‍👧…");
  });

  it("stays within the limit, on one line, for any text", () => {
    const texts = fc.oneof(fc.string(), fc.string({ unit: "binary" }), fc.lorem({ mode: "sentences" }));
    fc.assert(
      fc.property(texts, fc.nat(80), (text, maxChars) => {
        const summary = toSummary(text, maxChars);
        expect(summary.length).toBeLessThanOrEqual(maxChars);
        expect(summary.isWellFormed()).toBe(true);
        expect(summary).not.toMatch(/[\n\r\t]| {2}/);
        expect(summary).toBe(summary.trim());
      }),
    );
  });

  it("is quick on any size", () => {
    for (const unit of ["a", " ", "\n", ".", "# ", "**", "e\u0301", "e.g. ", "> ", "\n \r"]) {
      expect(toSummary(unit.repeat(1_000_000)).length).toBeLessThanOrEqual(160);
    }
  });
});
