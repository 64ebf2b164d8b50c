/**
 * Writes `src/search/vectors/kernel-bytes.ts`, a WebAssembly module of SIMD loops. Run it with
 * `node scripts/make-kernel.ts` after a change here.
 */
import { writeFileSync } from "node:fs";
import { assembleModule, type WasmFunction } from "./wasm-assembler.ts";

/** Returns the bytes of the module. It imports `host.memory` and exports `dots`, `dotsAt` and `sums`. */
export function makeKernel(): Uint8Array {
  return assembleModule([dots(), dotsAt(), sums()]);
}

/**
 * Computes dot products of one int16 query with `count` int8 rows, at least one. A row has `stride` bytes, a
 * multiple of 32: four accumulators take eight components each.
 */
function dots(): WasmFunction {
  return {
    name: "dots",
    parameters: ["$row", "$count", "$stride", "$query", "$out"],
    integers: ["$end", "$at"],
    vectors: DOT_SUMS,
    body: ["loop", ...dotOfRow(), ...nextOf("$count"), "end"],
  };
}

/** Like `dots`, with rows anywhere: their addresses are at `$list`. One call lets the memory fetch several at once. */
function dotsAt(): WasmFunction {
  return {
    name: "dotsAt",
    parameters: ["$list", "$count", "$stride", "$query", "$out"],
    integers: ["$end", "$at", "$row"],
    vectors: DOT_SUMS,
    body: [
      "loop",
      ...["local.get $list", "i32.load 0", "local.set $row"],
      ...dotOfRow(),
      ...advance("$list", 4),
      ...nextOf("$count"),
      "end",
    ],
  };
}

const DOT_SUMS = ["$sum0", "$sum1", "$sum2", "$sum3"];

/** The product of the query and `$row`, written to `$out`; both are behind it afterwards. */
function dotOfRow(): string[] {
  const lanes = 8;
  const step = lanes * DOT_SUMS.length;
  return [
    ...["local.get $row", "local.get $stride", "i32.add", "local.set $end"],
    ...["local.get $query", "local.set $at"],
    ...DOT_SUMS.flatMap((sum) => ["v128.const 0", `local.set ${sum}`]),
    "loop",
    ...DOT_SUMS.flatMap((sum, index) => [
      ...["local.get $row", `v128.load8x8_s ${index * lanes}`],
      ...["local.get $at", `v128.load ${index * lanes * 2}`],
      "i32x4.dot_i16x8_s",
      ...[`local.get ${sum}`, "i32x4.add", `local.set ${sum}`],
    ]),
    ...advance("$at", step * 2),
    ...advance("$row", step),
    ...["local.get $row", "local.get $end", "i32.ne", "br_if 0"],
    "end",
    "local.get $out",
    ...["local.get $sum0", "local.get $sum1", "i32x4.add"],
    ...["local.get $sum2", "local.get $sum3", "i32x4.add", "i32x4.add", "local.set $sum0"],
    ...acrossLanes("$sum0"),
    "i32.store 0",
    ...advance("$out", 4),
  ];
}

function nextOf(count: string): string[] {
  return [`local.get ${count}`, "i32.const 1", "i32.sub", `local.tee ${count}`, "br_if 0"];
}

/**
 * Adds up table entries for blocks of 16 vectors, at least one. A vector has a code of four bits for each table; a
 * block has 16 bytes for each two tables, a byte for each vector, the code of the first table in its low half. Tables
 * have 16 entries of at most 127, so that two fit into a byte. `$tables` ends at `$tablesEnd`, and there are a
 * multiple of eight.
 *
 * Only blocks with a sum above `$least` are written: the sums of the even vectors, those of the odd ones (16 bits
 * each), the number of the block. Where the next one would be written is stored at `$end`.
 */
function sums(): WasmFunction {
  const unrolled = [0, 1, 2, 3];
  const width = 16;
  return {
    name: "sums",
    parameters: ["$codes", "$block", "$blocks", "$tables", "$tablesEnd", "$least", "$out", "$end"],
    integers: ["$table"],
    vectors: ["$low", "$bar", "$pair", "$both", "$all", "$odd"],
    body: [
      ...["i32.const 15", "i8x16.splat", "local.set $low"],
      ...["local.get $least", "i16x8.splat", "local.set $bar"],
      "loop",
      ...["local.get $tables", "local.set $table"],
      ...["$all", "$odd"].flatMap((sum) => ["v128.const 0", `local.set ${sum}`]),
      "loop",
      ...unrolled.flatMap((pair) => [
        ...["local.get $codes", `v128.load ${pair * width}`, "local.set $pair"],
        ...["local.get $table", `v128.load ${pair * 2 * width}`],
        ...["local.get $pair", "local.get $low", "v128.and", "i8x16.swizzle"],
        ...["local.get $table", `v128.load ${(pair * 2 + 1) * width}`],
        ...["local.get $pair", "i32.const 4", "i16x8.shr_u", "local.get $low", "v128.and", "i8x16.swizzle"],
        ...["i8x16.add", "local.set $both"],
        // A sum of whole words; the odd bytes are taken off at the end.
        ...["local.get $all", "local.get $both", "i16x8.add", "local.set $all"],
        ...["local.get $odd", "local.get $both", "i32.const 8", "i16x8.shr_u", "i16x8.add", "local.set $odd"],
      ]),
      ...advance("$codes", unrolled.length * width),
      ...advance("$table", unrolled.length * 2 * width),
      ...["local.get $table", "local.get $tablesEnd", "i32.ne", "br_if 0"],
      "end",
      ...["local.get $all", "local.get $odd", "i32.const 8", "i16x8.shl", "i16x8.sub", "local.set $all"],
      ...["local.get $all", "local.get $bar", "i16x8.gt_s", "local.get $odd", "local.get $bar", "i16x8.gt_s"],
      ...["v128.or", "v128.any_true", "if"],
      ...["local.get $out", "local.get $all", "v128.store 0"],
      ...["local.get $out", "local.get $odd", `v128.store ${width}`],
      ...["local.get $out", "local.get $block", `i32.store ${2 * width}`],
      ...advance("$out", 2 * width + 4),
      "end",
      ...advance("$block", 1),
      ...nextOf("$blocks"),
      "end",
      ...["local.get $end", "local.get $out", "i32.store 0"],
    ],
  };
}

function advance(pointer: string, bytes: number): string[] {
  return [`local.get ${pointer}`, `i32.const ${bytes}`, "i32.add", `local.set ${pointer}`];
}

function acrossLanes(vector: string): string[] {
  const lane = (index: number) => [`local.get ${vector}`, `i32x4.extract_lane ${index}`];
  return [...lane(0), ...[1, 2, 3].flatMap((index) => [...lane(index), "i32.add"])];
}

if (import.meta.main) {
  const lines =
    Buffer.from(makeKernel())
      .toString("base64")
      .match(/.{1,96}/g) ?? [];
  writeFileSync(
    new URL("../src/search/vectors/kernel-bytes.ts", import.meta.url),
    [
      "/** Made by `scripts/make-kernel.ts`, which has the instructions to read. */",
      "export const KERNEL_BYTES =",
      `${lines.map((line) => `  "${line}"`).join(" +\n")};`,
      "",
    ].join("\n"),
  );
}
