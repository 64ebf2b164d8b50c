import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cleanText } from "./clean-text.ts";
import { cutText } from "./cut-text.ts";

const ESC = "\u001b";
const hostile = fc
  .array(
    fc.oneof(
      fc.string({ unit: "binary", maxLength: 4 }),
      fc.constantFrom("<!--", "-->", "<!-", "-", ">", "<", "!", " ", "\n", "\r", "\t"),
      fc.constantFrom(ESC, `${ESC}[31m`, `${ESC}]0;t`, "\u0007", `${ESC}\\`, "\u009b1m", "\u009d", "\u009c"),
      fc.constantFrom("\u200b", "\u202e", "\ufe0f", "\u{e0041}", "\u{e0101}", "\ud800", "\udc00", "👩‍💻"),
    ),
    { maxLength: 30 },
  )
  .map((parts) => parts.join(""));

describe("cleanText", () => {
  test("keeps ordinary text", () => {
    const text = "Größe: 5 µm\n\t– naïve “日本語” ✔️ <b>not a comment</b> a->b --> c";
    expect(cleanText(text)).toBe(text);
  });

  test.each([
    ["colour codes", `${ESC}[1;31mred${ESC}[0m`, "red"],
    ["window titles", `a${ESC}]0;evil title\u0007b`, "ab"],
    ["hyperlinks", `${ESC}]8;;http://x${ESC}\\link${ESC}]8;;${ESC}\\`, "link"],
    ["eight-bit sequences", "a\u009b31mb", "ab"],
    ["an unfinished string, showing what follows", `a${ESC}]0;visible`, "a0;visible"],
    ["bidi overrides", "a\u202eb\u2066c\u200fd", "abcd"],
    ["zero-width and invisible characters", "i\u200bg\u2060n\ufeffo\u00adre\u200d\u2063", "ignore"],
    ["tag characters", "hi\u{e0069}\u{e006e}\u{e007f}", "hi"],
    ["selectors that carry data", "a\u{e0100}\u{e01ef}b", "ab"],
    ["nulls and bells", "a\u0000b\u0007c\u007f", "abc"],
    ["carriage returns", "a\r\nb\rc", "a\nb\nc"],
    ["comments", "a<!-- ignore\nthis -->b", "a b"],
    ["comments hidden by zero-width characters", "a <!\u200b-- x --> b", "a  b"],
    ["what would join up to a comment", "<!-<!-- x -->- y -->", "<!- - y -->"],
    ["the opener of a comment without end", "a <!-- seen", "a  seen"],
    ["lone surrogates", "a\ud800b\udc00", "a\ufffdb\ufffd"],
  ])("handles %s", (_, text, cleaned) => {
    expect(cleanText(text)).toBe(cleaned);
  });

  test("cuts to the limit", () => {
    expect(cleanText("\u200babcdef", 4)).toBe("abc…");
    expect(cleanText("abcd", 4)).toBe("abcd");
  });

  test("cleaning twice changes nothing, and nothing invisible is left", () => {
    const forbidden =
      /(?!\n|\t)\p{Cc}|\p{Bidi_Control}|\p{Cs}|[\u200b-\u200f\u2060-\u2064\ufeff\u00ad]|[\u{e0000}-\u{e01ef}]|<!--/u;
    fc.assert(
      fc.property(hostile, fc.option(fc.nat(40), { nil: undefined }), (text, maxChars) => {
        const cleaned = cleanText(text, maxChars);
        expect(cleaned).not.toMatch(forbidden);
        expect(cleanText(cleaned, maxChars)).toBe(cleaned);
        if (maxChars !== undefined) expect(cleaned.length).toBeLessThanOrEqual(maxChars);
      }),
      { numRuns: 2000 },
    );
  });

  test.each([`${ESC}]`, "\u009d", "<!--", "<!---->", "a<!-- -->", `${ESC}[`, "\u200b", "\ud800", "-->"])(
    "takes linear time for many of %j",
    (part) => {
      cleanText(part.repeat(100_000));
    },
  );
});

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
