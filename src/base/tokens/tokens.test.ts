import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { importTool } from "../../../scripts/tool.ts";
import { unlessUnreachable } from "../../../test/unless-unreachable.ts";
import { loadTokenCounter } from "./tokens.ts";

interface Other {
  countTokens(text: string, options: { disallowedSpecial: Set<string> }): number;
}

const other = await unlessUnreachable(() =>
  importTool<Other>("tokenizer", "gpt-tokenizer/encoding/o200k_base"),
);

const exact = (text: string) => other!.countTokens(text, { disallowedSpecial: new Set() });

describe("loadTokenCounter", () => {
  it("loads once", async () => {
    const [first, second] = await Promise.all([loadTokenCounter(), loadTokenCounter()]);
    expect(first).toBe(second);
    expect(await loadTokenCounter()).toBe(first);
  });

  it("counts as the vocabulary does", async () => {
    const count = await loadTokenCounter();
    expect(count("")).toBe(0);
    expect(count("hello world")).toBe(2);
  });

  it.skipIf(!other)("counts any text as gpt-tokenizer does", async () => {
    const count = await loadTokenCounter();
    const words = fc.constantFrom(
      "don't",
      " the",
      "WE'LL",
      "漢字",
      "🧑‍🚀",
      "0x1F",
      " \n\n\t",
      "://",
      "ß",
      "é",
    );
    const parts = fc.oneof(
      words,
      fc.string({ unit: "binary" }),
      fc.string({ unit: "grapheme" }),
      fc.string(),
    );
    const texts = fc.array(parts, { maxLength: 12 }).map((some) => some.join(""));
    fc.assert(
      fc.property(texts, (text) => {
        // gpt-tokenizer decodes bytes to text to look them up, which drops a byte order mark.
        fc.pre(!text.includes("\ufeff"));
        expect(count(text)).toBe(exact(text));
      }),
      { numRuns: 500 },
    );
  });

  it("takes special tokens and broken text for ordinary text", async () => {
    const count = await loadTokenCounter();
    expect(count("<|endoftext|>")).toBeGreaterThan(1);
    expect(count(`${"<|im_start|> ".repeat(500)}<|endofprompt|>`)).toBeGreaterThan(1_000);
    expect(count("\ud800 a \udc00")).toBeGreaterThan(2);
  });

  it.skipIf(!other)("is exact on long text made of words", async () => {
    const count = await loadTokenCounter();
    const prose = "It reads 12345678 rows,  then writes\n\n\t`src/index.ts` (don't ask)!\r\n \n 漢字仮名。\n";
    const minified = JSON.stringify(
      Array.from({ length: 9_000 }, (_, id) => ({ id, name: `user ${id}`, on: true })),
    );
    for (const text of [prose.repeat(4_000), minified, "7".repeat(5_000)]) {
      expect(count(text)).toBe(exact(text));
    }
  });

  it.skipIf(!other)("is close to exact where runs are cut", async () => {
    const count = await loadTokenCounter();
    for (const text of ["a".repeat(4_001), " ".repeat(4_001), "xyzzy=".repeat(900), "漢字".repeat(900)]) {
      const difference = Math.abs(count(text) - exact(text));
      expect(difference).toBeLessThanOrEqual((2 * text.length) / 256 + 2);
    }
  });

  it.each([
    ["one letter", "a"],
    ["blanks", " "],
    ["line ends", "\n"],
    ["signs", "=-"],
    ["marks after signs", "--\u0301"],
    ["lone surrogates", "\ud800"],
    ["mixed letters", "qzjxkvbwpfg"],
  ])("takes linear time on five million characters of %s", async (_, unit) => {
    const count = await loadTokenCounter();
    const text = unit.repeat(Math.ceil(5_000_000 / unit.length));
    expect(count(text)).toBeGreaterThan(0);
  });
});
