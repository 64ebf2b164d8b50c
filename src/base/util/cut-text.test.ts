import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cutText } from "./cut-text.ts";

describe("cutText", () => {
  test("never splits a character as a person reads it", () => {
    expect(cutText("ab👩‍💻cd", 5)).toBe("ab…");
    expect(cutText("cafe\u0301s", 5)).toBe("caf…");
    expect(cutText("🇩🇪🇫🇷!", 7)).toBe("🇩🇪…");
    expect(cutText("😀😀", 2)).toBe("…");
    expect(cutText("abc", 0)).toBe("");
  });

  test("keeps as much of a pile of combining marks as fits", () => {
    expect(cutText(`e${"\u0301".repeat(5000)}`, 1000)).toHaveLength(1000);
  });

  test("stays within the limit and well formed", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.nat(30), (text, maxChars) => {
        const whole = text.toWellFormed();
        const cut = cutText(whole, maxChars);
        expect(cut.length).toBeLessThanOrEqual(maxChars);
        expect(cut.isWellFormed()).toBe(true);
        expect(whole.startsWith(cut.replace(/…$/, "")) || cut === whole).toBe(true);
      }),
    );
  });
});
