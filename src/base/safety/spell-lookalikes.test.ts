import fc from "fast-check";
import { expect, test } from "vitest";
import { spellLookalikes } from "./visible-text.ts";

const spell = (character: string) => `<${character.codePointAt(0)!.toString(16)}>`;
const spelt = (text: string) => spellLookalikes(text, spell);

test.each([
  ["p\u0430ypal", "p<430>ypal"],
  ["\u0440\u0430ypal.com", "<440><430>ypal.com"],
  ["delete_\u0430ll", "delete_<430>ll"],
  ["~/.s\u0455h/id_rsa", "~/.s<455>h/id_rsa"],
  ["g\u03bfogle", "g<3bf>ogle"],
  ["\u0397ome", "<397>ome"],
  ["ad\u0585be", "ad<585>be"],
  ["\u13a0pp", "<13a0>pp"],
  ["ａdmin", "<ff41>dmin"],
  ["\u{1d41a}dmin", "<1d41a>dmin"],
  ["приве\u0074", "приве<74>"],
  ["Αθήν\u0061", "Αθήν<61>"],
  ["\u0430a", "<430>a"],
  ["caf\u0435\u0301", "caf<435>\u0301"],
  ["example.com\u2044evil", "example.com<2044>evil"],
  ["example\u3002com", "example<3002>com"],
  ["a\u2010b", "a<2010>b"],
])("T22: %j is shown as %j", (text, shown) => {
  expect(spelt(text)).toBe(shown);
  expect(spelt(shown)).toBe(shown);
});

test.each([
  "plain words, naïve café, Größe, Đặng, İstanbul",
  "удалить всё, IT-отдел, user_имя, имя.txt, C:\\Документы",
  "Ελλάδα, Δt, 5 μs, kΩ, π, β2, λx",
  "日本語のテキスト、Tシャツ、AI模型。次の文：はい",
  "한국어와 漢字, TV프로그램",
  "עברית and العربية ١٢٣ हिन्दी ไทย ქართული Հայերեն",
  "ｗｉｄｅ words, 3D-модель, H₂O, x²",
  "https://example.com/a-b?c=d:e",
])("T22: words in one alphabet stay: %s", (text) => {
  expect(spelt(text)).toBe(text);
});

test("T22: nothing but letters and separators is ever spelt out, and twice changes nothing", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      const shown = spelt(text);
      const back = shown.replace(/<([0-9a-f]+)>/g, (_, point) =>
        String.fromCodePoint(Number.parseInt(point, 16)),
      );
      if (!/<[0-9a-f]+>/.test(text)) expect(back).toBe(text);
      expect(spelt(shown)).toBe(shown);
    }),
  );
});
