import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createWordPiece, LineTable, UNKNOWN_PIECE } from "./static-table.ts";

const PIECES = [
  "play",
  "##ing",
  "##s",
  "un",
  "##play",
  "cafe",
  "!",
  "$",
  "[",
  "]",
  "unk",
  "中",
  "文",
  "constructor",
];
const FIRST = UNKNOWN_PIECE + 1;
const vocabulary = [...Array.from({ length: FIRST }, (_, id) => `[unused${id}]`), ...PIECES];
const { tokenize } = createWordPiece(new LineTable(Buffer.from(vocabulary.join("\n"))));

describe("word pieces", () => {
  it.each([
    ["playing", ["play", "##ing"]],
    ["PLAYS!", ["play", "##s", "!"]],
    ["unplay $", ["un", "##play", "$"]],
    ["Café cafe\u0301", ["cafe", "cafe"]],
    ["pl\u200Bay\u0000", ["play"]],
    ["中文", ["中", "文"]],
    ["[UNK]", ["[", "unk", "]"]],
    ["constructor", ["constructor"]],
    ["play\tplay\u00A0play\u2028play", ["play", "play", "play", "play"]],
    ["", []],
  ])("splits %j", (text, pieces) => {
    expect(tokenize(text).map((id) => vocabulary[id])).toEqual(pieces);
  });

  it("gives one unknown for a word that cannot be made of pieces", () => {
    expect(tokenize("playx ing toString __proto__")).toEqual([
      UNKNOWN_PIECE,
      UNKNOWN_PIECE,
      UNKNOWN_PIECE,
      ...[UNKNOWN_PIECE, UNKNOWN_PIECE, UNKNOWN_PIECE, UNKNOWN_PIECE, UNKNOWN_PIECE],
    ]);
  });

  it("takes a word of a hundred letters and no longer one", () => {
    expect(tokenize(`play${"s".repeat(96)}`)).toHaveLength(97);
    expect(tokenize(`play${"s".repeat(97)}`)).toEqual([UNKNOWN_PIECE]);
  });

  it("spells the words back, whatever the text", () => {
    const text = fc.array(fc.constantFrom("play", "playing", "PLAYS", "unplay", "!", " ", "é", "中"));
    fc.assert(
      fc.property(text, (parts) => {
        const ids = tokenize(parts.join(" "));
        const spelled = ids.map((id) => (id === UNKNOWN_PIECE ? "?" : vocabulary[id]!.replace("##", "")));
        const words = parts.map((part) => (part === "é" ? "?" : part.trim().toLowerCase()));
        expect(spelled.join("")).toBe(words.join(""));
      }),
    );
  });
});
