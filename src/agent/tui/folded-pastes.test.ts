import { expect, test } from "vitest";
import { createFoldedPastes } from "./input-box.ts";

test("a long paste is one line in the draft, and whole when it is sent", () => {
  const pastes = createFoldedPastes();
  const long = Array.from({ length: 30 }, (_, index) => `line ${index} $1 $&`).join("\n");
  const wide = "x".repeat(3_000);
  expect(pastes.fold("two\nlines")).toBe("two\nlines");
  const draft = `Look: ${pastes.fold(long)} and ${pastes.fold(wide)}.`;
  expect(draft).toBe(
    `Look: [Pasted text 1: 30 lines, ${long.length} characters] and [Pasted text 2: 1 line, 3,000 characters].`,
  );
  expect(pastes.unfold(draft)).toBe(`Look: ${long} and ${wide}.`);
  expect(pastes.unfold("[Pasted text 9: 3 lines, 4 characters]")).toBe(
    "[Pasted text 9: 3 lines, 4 characters]",
  );
});
