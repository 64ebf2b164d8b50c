import { type Problem, problem } from "../../schema/problem.ts";
import { crc32 } from "../../util/crc32.ts";
import { MAXIMUM_DIMENSIONS, strideOf } from "./dot-block.ts";

/** The content of a vector store, slot by slot; a free slot has no id. */
export interface VectorContents {
  readonly dimensions: number;
  readonly ids: (string | undefined)[];
  readonly scales: Float32Array;
  readonly rows: Int8Array;
}

/** "KHV1", read as a little-endian number. */
const MAGIC = 0x3156484b;
/** Magic, checksum of all that follows it, dimensions, slots, bytes of the ids. */
const HEADER_BYTES = 20;
const CHECKED_FROM = 8;

/** Header, ids as a JSON array, scales, rows; numbers are little-endian. */
export function encodeVectors({ dimensions, ids, scales, rows }: VectorContents): Uint8Array {
  const names = Buffer.from(JSON.stringify(ids.map((id) => id ?? null)), "utf8");
  const scaleStart = HEADER_BYTES + names.length;
  const rowStart = scaleStart + ids.length * 4;
  const bytes = new Uint8Array(rowStart + rows.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, MAGIC, true);
  view.setUint32(8, dimensions, true);
  view.setUint32(12, ids.length, true);
  view.setUint32(16, names.length, true);
  bytes.set(names, HEADER_BYTES);
  for (let slot = 0; slot < ids.length; slot++) view.setFloat32(scaleStart + slot * 4, scales[slot]!, true);
  bytes.set(new Uint8Array(rows.buffer, rows.byteOffset, rows.length), rowStart);
  view.setUint32(4, crc32(bytes.subarray(CHECKED_FROM)), true);
  return bytes;
}

/** Reads what `encodeVectors` wrote. */
export function decodeVectors(bytes: Uint8Array): VectorContents {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < HEADER_BYTES) throw damaged("it is too short");
  if (view.getUint32(0, true) !== MAGIC) throw damaged("it is of another format or version");
  if (view.getUint32(4, true) !== crc32(bytes.subarray(CHECKED_FROM))) throw damaged("its checksum is wrong");

  const dimensions = view.getUint32(8, true);
  const slots = view.getUint32(12, true);
  const scaleStart = HEADER_BYTES + view.getUint32(16, true);
  const rowStart = scaleStart + slots * 4;
  if (dimensions < 1 || dimensions > MAXIMUM_DIMENSIONS) throw damaged("its dimensions make no sense");
  if (rowStart + slots * strideOf(dimensions) !== bytes.length)
    throw damaged("its parts do not fit its size");

  const scales = new Float32Array(slots);
  for (let slot = 0; slot < slots; slot++) scales[slot] = view.getFloat32(scaleStart + slot * 4, true);
  if (!scales.every(Number.isFinite)) throw damaged("a scale is not a number");
  const rows = new Int8Array(bytes.buffer, bytes.byteOffset + rowStart, bytes.length - rowStart);
  return { dimensions, ids: parseIds(bytes.subarray(HEADER_BYTES, scaleStart), slots), scales, rows };
}

function parseIds(bytes: Uint8Array, slots: number): (string | undefined)[] {
  const seen = new Set<string>();
  const values = parseArray(bytes);
  if (values.length !== slots) throw damaged("its ids do not match its slots");
  return values.map((value) => {
    if (value === null) return undefined;
    if (typeof value !== "string" || seen.has(value)) throw damaged("an id is no text or there twice");
    seen.add(value);
    return value;
  });
}

function parseArray(bytes: Uint8Array): unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString("utf8"));
    return Array.isArray(value) ? value : [];
  } catch {
    throw damaged("its ids cannot be read");
  }
}

function damaged(reason: string): Problem {
  return problem("UNAVAILABLE", {
    name: "The vector snapshot",
    state: "damaged",
    reason: `${reason}. Build the vectors again.`,
  });
}
