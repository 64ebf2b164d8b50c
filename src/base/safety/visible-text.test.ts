import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hidesText, toVisibleLine, toVisibleText } from "./visible-text.ts";

const ESC = "\u001b";
/** Raw characters that no output may have, whatever came in. */
const FORBIDDEN =
  /(?![\t\n])(?!\r\n)\p{Cc}|[\u00ad\u200b\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e01ef}\p{Cs}]/u;
const hostile = fc
  .array(
    fc.oneof(
      fc.string({ unit: "binary", maxLength: 4 }),
      fc.constantFrom(
        "<!--",
        "-->",
        " ",
        "\n",
        "\r",
        "\t",
        "\r\n",
        "می‌خواهم",
        "👩‍💻",
        "ש\u200f",
        "\u200f",
        "\u200d",
      ),
      fc.constantFrom(
        ESC,
        `${ESC}[31m`,
        `${ESC}]52;c;eA==\u0007`,
        `${ESC}\\`,
        "\u009b1m",
        "\u009d",
        "\u009c",
      ),
      fc.constantFrom("\u200b", "\u202e", "\ufe0f", "\u{e0041}", "\u{e0101}", "\ud800", "\udc00"),
    ),
    { maxLength: 30 },
  )
  .map((parts) => parts.join(""));

describe("toVisibleText", () => {
  test.each([
    ["prose", "Größe: 5 µm\n\t– naïve “日本語” ✔️ <b>not a comment</b> a->b --> c\r\n"],
    ["comments", "a <!-- seen --> b <!-- open"],
    ["joined emoji", "👩‍🚀 👩🏽‍💻 🏳️‍🌈 ❤️ ❤️‍🔥 1️⃣ 👁️‍🗨️ 👨‍👩‍👧‍👦"],
    ["Persian", "می‌خواهم کتاب‌ها را PDF‌ها"],
    ["Arabic", "مرحبا بالعالم ١٦\u200f/١١\u200f/٢٠٢٦"],
    ["Hebrew", "שלום עולם C++\u200e שלום"],
    ["Hindi, Malayalam and Sinhala", "क्‍ष ക്‍ ශ්‍රී"],
    ["new characters", "\u{1FAEA} \uE0A0"],
  ])("keeps %s", (_, text) => {
    expect(toVisibleText(text)).toBe(text);
    expect(hidesText(text)).toBe(false);
  });

  test.each([
    ["colour codes", `${ESC}[31mred`, "\\u001b[31mred"],
    ["writes to the clipboard", `${ESC}]52;c;eA==\u0007`, "\\u001b]52;c;eA==\\u0007"],
    ["eight-bit sequences", "a\u009b31mb", "a\\u009b31mb"],
    ["bidi overrides and isolates", "a\u202eb\u2066c", "a\\u202eb\\u2066c"],
    ["bidi marks in Latin text", "a\u200fb", "a\\u200fb"],
    ["zero-width characters", "i\u200bg\u2060n\ufeffo\u00adre", "i\\u200bg\\u2060n\\ufeffo\\u00adre"],
    ["joiners in Latin text", "i\u200dgnore\u200c", "i\\u200dgnore\\u200c"],
    ["piles of joiners", "م\u200c\u200c\u200dب", "م\\u200c\\u200c\\u200dب"],
    ["tag characters", "hi\u{e0069}", "hi\\udb40\\udc69"],
    ["selectors that carry data", "a\u{e0100}\ufe0f\ufe0fb", "a\\udb40\\udd00\\ufe0f\\ufe0fb"],
    ["nulls and deletes", "a\u0000b\u007f", "a\\u0000b\\u007f"],
    ["carriage returns that overwrite a line", "a\rb", "a\\u000db"],
    ["line separators", "a\u2028b", "a\\u2028b"],
    ["lone surrogates", "a\ud800b", "a\\ud800b"],
  ])("spells out %s", (_, text, spelt) => {
    expect(toVisibleText(text)).toBe(spelt);
    expect(hidesText(text)).toBe(true);
  });

  test("leaves nothing hidden, changes nothing more the second time, and keeps to the limit", () => {
    fc.assert(
      fc.property(hostile, fc.option(fc.nat(40), { nil: undefined }), (text, maxChars) => {
        const visible = toVisibleText(text, maxChars);
        expect(visible).not.toMatch(FORBIDDEN);
        expect(toVisibleText(visible, maxChars)).toBe(visible);
        if (maxChars !== undefined) expect(visible.length).toBeLessThanOrEqual(maxChars);
      }),
      { numRuns: 2000 },
    );
  });

  test.each([
    ["a joiner before a selector", "م\u200d\ufe0f", "م\\u200d\\ufe0f"],
    ["a joiner after a selector", "a\ufe0f\u200d😀", "a\\ufe0f\\u200d😀"],
    ["a mark after a mark", "a\u061c\u200eb", "a\\u061c\\u200eb"],
    ["a joiner after a hidden letter", "a\u180b\u200db", "a\\u180b\\u200db"],
  ])("T8: spells out %s that is hidden itself", (_, text, spelt) => {
    expect(toVisibleText(text)).toBe(spelt);
  });

  test("JSON stays JSON with the same data", () => {
    fc.assert(
      fc.property(fc.dictionary(hostile, hostile), (value) => {
        const whole = JSON.stringify(value);
        expect(JSON.stringify(JSON.parse(toVisibleText(whole)))).toBe(whole);
      }),
    );
  });

  test.each([`${ESC}]`, "\u009d", "\u200b", "\ud800", "م\u200c", "👩‍", "\u200f", "\r"])(
    "takes linear time for many of %j",
    (part) => {
      toVisibleText(part.repeat(100_000));
    },
  );
});

test("a line for a person has no line ends and tabs either", () => {
  expect(toVisibleLine(`a${ESC}[2Jb\tc\nd\r\ne`)).toBe("a\\u001b[2Jb\\u0009c\\u000ad\\u000d\\u000ae");
  fc.assert(
    fc.property(hostile, (text) => {
      expect(toVisibleLine(text)).not.toMatch(/\p{Cc}/u);
    }),
  );
});
