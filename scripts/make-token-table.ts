// Writes the vocabulary that token counts need, in the compact form of src/base/tokens/token-table.ts.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { packTokens } from "../src/base/tokens/token-table.ts";
import { toolFile } from "./tool.ts";

const encoding = toolFile("tokenizer", "gpt-tokenizer/encoding/o200k_base");
const data = join(dirname(encoding), "../../data/o200k_base.tiktoken");
const tokens: Uint8Array[] = [];
for (const line of readFileSync(data, "utf8").trim().split("\n")) {
  const [base64 = "", rank] = line.split(" ");
  tokens[Number(rank)] = Buffer.from(base64, "base64");
}
const packed = packTokens(tokens);
writeFileSync("models/o200k/tokens.bin", packed);
console.log(`models/o200k/tokens.bin: ${tokens.length} tokens, ${packed.byteLength} bytes`);
