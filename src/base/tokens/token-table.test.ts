import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { toolFile } from "../../../scripts/tool.ts";
import { unlessUnreachable } from "../../../test/unless-unreachable.ts";
import { NO_TOKEN, openTokenTable, packTokens } from "./token-table.ts";

const encoding = await unlessUnreachable(() => toolFile("tokenizer", "gpt-tokenizer/encoding/o200k_base"));
const bytesOf = (text: string) => new TextEncoder().encode(text);

test("a packed token has its place as its rank, and other bytes have none", () => {
  const table = openTokenTable(packTokens(["a", "b", "ab", "abc"].map(bytesOf)));
  const rank = (text: string) => table.rank(bytesOf(text), 0, bytesOf(text).length);
  expect(["a", "b", "ab", "abc"].map(rank)).toEqual([0, 1, 2, 3]);
  expect(["", "c", "ba", "abcd"].map(rank)).toEqual([NO_TOKEN, NO_TOKEN, NO_TOKEN, NO_TOKEN]);
  expect(table.rank(bytesOf("xaby"), 1, 3)).toBe(2);
});

test("a cut table is refused", () => {
  const packed = packTokens([bytesOf("a"), bytesOf("bc")]);
  expect(() => openTokenTable(packed.subarray(0, -1))).toThrow(RangeError);
});

test.skipIf(!encoding)("the table of the package is the published vocabulary", () => {
  const lines = readFileSync(join(dirname(encoding!), "../../data/o200k_base.tiktoken"), "utf8")
    .trim()
    .split("\n");
  const table = openTokenTable(readFileSync("models/o200k/tokens.bin"));
  const wrong = lines.filter((line) => {
    const [base64 = "", rank] = line.split(" ");
    const token = Buffer.from(base64, "base64");
    return table.rank(token, 0, token.length) !== Number(rank);
  });
  expect(lines).toHaveLength(199_998);
  expect(wrong).toEqual([]);
});
