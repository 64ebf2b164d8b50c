import { readFile } from "node:fs/promises";
import { endianness } from "node:os";
import { join } from "node:path";
import { type Problem, problem } from "../../schema/problem.ts";
import { reasonOf } from "../../util/reason-of.ts";

/** Reads one file of an embedding table. */
export async function readTableFile(directory: string, file: string): Promise<Buffer> {
  try {
    return await readFile(join(directory, file));
  } catch (error) {
    const reason = reasonOf(error);
    throw unavailable("missing", `${file} cannot be read from ${directory} (${reason}).`);
  }
}

/** Reads a file of one text a line. */
export async function readTableLines(directory: string, file: string): Promise<string[]> {
  return (await readTableFile(directory, file)).toString("utf8").replace(/\n$/, "").split("\n");
}

export function expectTableSize(directory: string, file: string, bytes: Buffer, expected: number): void {
  if (bytes.byteLength === expected) return;
  throw damagedTable(directory, `${file} has ${bytes.byteLength} bytes where ${expected} belong`);
}

/** The scales of a table's rows. The file is little-endian and its buffer may start at any byte: a copy. */
export function toScales(directory: string, bytes: Buffer, count: number): Float32Array {
  expectTableSize(directory, "scales.f32", bytes, count * Float32Array.BYTES_PER_ELEMENT);
  const copy = Uint8Array.from(bytes);
  const view = new DataView(copy.buffer);
  const scales =
    endianness() === "LE"
      ? new Float32Array(copy.buffer, 0, count)
      : Float32Array.from({ length: count }, (_, index) => view.getFloat32(index * 4, true));
  if (scales.every(Number.isFinite)) return scales;
  throw damagedTable(directory, "scales.f32 holds values that are no numbers");
}

export function damagedTable(directory: string, reason: string): Problem {
  return unavailable("damaged", `${reason} (${directory}); install the package again.`);
}

function unavailable(state: string, reason: string): Problem {
  return problem("UNAVAILABLE", { name: "The embedding table", state, reason });
}
