import { expectTableSize, readTableFile, toScales } from "./table-files.ts";

/** Rows packed by product quantisation: 64 codes a row, each for four components. */
export interface PackedTable {
  /** Adds a row, times `factor`, to a sum. */
  addRow(row: number, sum: Float32Array, factor: number): void;
}

const CODES = 64;
const WIDTH = 4;
const CHOICES = 256;

/** Reads `codes.u8`, `codebook.i8` and `scales.f32` of a table with that many rows. */
export async function loadPackedTable(directory: string, rows: number): Promise<PackedTable> {
  const [codes, book, scaleFile] = await Promise.all(
    ["codes.u8", "codebook.i8", "scales.f32"].map((file) => readTableFile(directory, file)),
  );
  expectTableSize(directory, "codes.u8", codes!, rows * CODES);
  expectTableSize(directory, "codebook.i8", book!, CODES * CHOICES * WIDTH);
  const scales = toScales(directory, scaleFile!, rows);
  const codebook = new Int8Array(book!.buffer, book!.byteOffset, book!.byteLength);
  return {
    addRow(row, sum, factor) {
      const scale = scales[row]! * factor;
      for (let code = 0; code < CODES; code++) {
        const from = (code * CHOICES + codes![row * CODES + code]!) * WIDTH;
        for (let part = 0; part < WIDTH; part++) sum[code * WIDTH + part]! += codebook[from + part]! * scale;
      }
    },
  };
}
