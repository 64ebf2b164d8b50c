import { describe, expect, test } from "vitest";
import { parseShell } from "./parse-shell.ts";

function wordsOf(text: string): string[][] | string {
  const parsed = parseShell(text);
  if (!parsed.ok) return parsed.reason;
  return parsed.commands.map(({ words }) => words.map((word) => word.text));
}

describe("parseShell", () => {
  test("gives every simple command with its words", () => {
    expect(wordsOf("a 'b c' && d e\\ f | (f; { g \"h i\"; }) & j\nk")).toEqual([
      ["a", "b c"],
      ["d", "e f"],
      ["f"],
      ["g", "h i"],
      ["j"],
      ["k"],
    ]);
  });

  test("gives the commands of substitutions before the one they stand in", () => {
    expect(wordsOf('a "x$(b `c`)y"')).toEqual([["c"], ["b", "`…`"], ["a", "x$(…)y"]]);
  });

  test("tells assignments from words", () => {
    const parsed = parseShell("A=1 B='2 3' c D=4");
    expect(parsed).toMatchObject({ ok: true, commands: [{ assignments: 2 }] });
    expect(wordsOf("A=1 B='2 3' c D=4")).toEqual([["A=1", "B=2 3", "c", "D=4"]]);
  });

  test("gives redirections, with whether they write", () => {
    expect(parseShell("a <in >out 2>>err 3<>both >&2 2>&-")).toMatchObject({
      ok: true,
      redirections: [
        { writes: false, target: { text: "in" } },
        { writes: true, target: { text: "out" } },
        { writes: true, target: { text: "err" } },
        { writes: true, target: { text: "both" } },
      ],
    });
  });

  test.each([
    ["a <<<b", "it has a here-string"],
    ["a <(b)", "it has a process substitution"],
    ["a >(b)", "it has a process substitution"],
    ["a 12>b", "it has an unusual redirection"],
    ["a >!b", "it has an unusual redirection"],
    ["a >>&b", "it has an unusual redirection"],
    ["a >&b", "it has an unusual redirection"],
    ["a >&2b", "it has an unusual redirection"],
    ["a >&b2", "it has an unusual redirection"],
    ["a <&b", "it has an unusual redirection"],
    ["a >&1234", "it has an unusual redirection"],
    ["a >", "a redirection has no target"],
    ["a > ; b", "a redirection has no target"],
    ["a <<''\nx\n", "a here-document has an unusual end"],
    ["a <<$X\nx\n$X", "a here-document has an unusual end"],
    ["a <<'x\ny'\nx\ny", "a here-document has an unusual end"],
  ])("T22: does not understand the redirection of %j", (command, reason) => {
    expect(wordsOf(command)).toBe(reason);
  });

  test("T22: copies of descriptors and closed ones are no files", () => {
    for (const command of ["a >&2", "a >&123", "a 2>&-", "a <&0", "a <&-", "a 3<&4"])
      expect([command, parseShell(command)]).toMatchObject([command, { ok: true, redirections: [] }]);
  });

  test("T22: a here-document ends at its own line, with tabs before it only after <<-", () => {
    expect(wordsOf("a <<-X\nrm b\n\tX\nc")).toEqual([["a"], ["c"]]);
    expect(wordsOf("a <<X\nrm b\n\tX\nX\nc")).toEqual([["a"], ["c"]]);
    // A number before it is the descriptor, one that belongs to a word is not.
    expect(wordsOf("a 3<<X\nb\nX\nc")).toEqual([["a"], ["c"]]);
    expect(wordsOf("a b3 >c")).toEqual([["a", "b3"]]);
  });

  test("takes the text of a here-document out of the commands", () => {
    const parsed = parseShell("a <<X | b\nrm -rf /\nX\nc");
    expect(parsed).toMatchObject({ ok: true, hasHereDocument: true });
    expect(wordsOf("a <<X | b\nrm -rf /\nX\nc")).toEqual([["a"], ["b"], ["c"]]);
  });

  test("says why it does not understand", () => {
    expect(wordsOf("if a; then b; fi")).toBe("if is not followed");
    expect(wordsOf("a\rb")).toBe("it contains the character U+000D");
    expect(wordsOf("x".repeat(10_001))).toBe("it is longer than 10000 characters");
  });
});
