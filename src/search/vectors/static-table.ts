import { readFile } from "node:fs/promises";
import { endianness } from "node:os";
import { join } from "node:path";
import { type Problem, problem } from "../../schema/problem.ts";
import { reasonOf } from "../../util/reason-of.ts";
import { normalize } from "./normalize.ts";
import { createWordPiece, UNKNOWN_PIECE } from "./word-piece.ts";

/** A table of int8 word-piece vectors in memory. */
export interface StaticTable {
  embed(text: string): Float32Array;
  tokenize(text: string): number[];
}

/** What lies beyond no longer moves the sum of a text, and costs time. */
const MAXIMUM_CHARACTERS = 100_000;
const SMALLEST_VOCABULARY = UNKNOWN_PIECE + 1;

/** Reads `vocab.txt`, `vectors.i8` and `scales.f32`; the rows stay bytes. */
export async function loadStaticTable(directory: string, dimensions: number): Promise<StaticTable> {
  const [vocabularyFile, vectorFile, scaleFile] = await Promise.all(
    ["vocab.txt", "vectors.i8", "scales.f32"].map((file) => read(directory, file)),
  );
  const vocabulary = vocabularyFile!.toString("utf8").replace(/\n$/, "").split("\n");
  const count = vocabulary.length;
  if (count < SMALLEST_VOCABULARY) throw damaged(directory, `vocab.txt has only ${count} pieces`);
  if (vocabulary[UNKNOWN_PIECE] !== "[UNK]") {
    throw damaged(directory, `vocab.txt has no [UNK] at ${UNKNOWN_PIECE}`);
  }
  expectSize(directory, "vectors.i8", vectorFile!, count * dimensions);
  expectSize(directory, "scales.f32", scaleFile!, count * Float32Array.BYTES_PER_ELEMENT);

  const rows = new Int8Array(vectorFile!.buffer, vectorFile!.byteOffset, vectorFile!.byteLength);
  const scales = toFloats(scaleFile!, count);
  if (!scales.every(Number.isFinite)) throw damaged(directory, "scales.f32 holds values that are no numbers");
  const wordPiece = createWordPiece(vocabulary);
  const tokenize = (text: string) => wordPiece.tokenize(text.slice(0, MAXIMUM_CHARACTERS));

  return {
    tokenize,
    embed(text) {
      const sum = new Float32Array(dimensions);
      for (const id of tokenize(text)) {
        if (id === UNKNOWN_PIECE) continue;
        const scale = scales[id]!;
        const start = id * dimensions;
        for (let index = 0; index < dimensions; index++) sum[index]! += rows[start + index]! * scale;
      }
      return normalize(sum);
    },
  };
}

async function read(directory: string, file: string): Promise<Buffer> {
  try {
    return await readFile(join(directory, file));
  } catch (error) {
    const reason = reasonOf(error);
    throw unavailable("missing", `${file} cannot be read from ${directory} (${reason}).`);
  }
}

function expectSize(directory: string, file: string, bytes: Buffer, expected: number): void {
  if (bytes.byteLength === expected) return;
  throw damaged(directory, `${file} has ${bytes.byteLength} bytes where ${expected} belong`);
}

/** The file is little-endian and its buffer may start at any byte, so the floats are copied. */
function toFloats(bytes: Buffer, count: number): Float32Array {
  const copy = Uint8Array.from(bytes);
  if (endianness() === "LE") return new Float32Array(copy.buffer, 0, count);
  const view = new DataView(copy.buffer);
  return Float32Array.from({ length: count }, (_, index) => view.getFloat32(index * 4, true));
}

function damaged(directory: string, what: string): Problem {
  return unavailable("damaged", `${what} (${directory}); install the package again.`);
}

function unavailable(state: string, reason: string): Problem {
  return problem("UNAVAILABLE", { name: "The embedding table", state, reason });
}
