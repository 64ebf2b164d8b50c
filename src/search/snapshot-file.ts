import { type FileHandle, open } from "node:fs/promises";
import { crc32 } from "../base/util/content-hash.ts";

export type OpenedSnapshot<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: string };

const TYPES = { Int8Array, Uint8Array, Uint16Array, Uint32Array, Float32Array } as const;
type ArrayType = keyof typeof TYPES;

/** The named arrays of a file, each in its own memory, aligned for use. */
export type FileParts = Readonly<
  Record<string, Int8Array | Uint8Array | Uint16Array | Uint32Array | Float32Array>
>;

/** The memory for an array. Default: new memory. */
type PartMemory<H> = (name: string, bytes: number, header: H) => Uint8Array | undefined;

const MAGIC = "KHSEARCH";
/** Increase it with every change of the format or of text analysis. */
const VERSION = 5;
/** Magic, version, checksum and length of the header. */
const PREFIX = 20;
/** Bytes covered by one checksum. */
const BLOCK = 2 ** 23;
/** Blocks to read at the same time: one is checked while others load. */
const READERS = 3;
const ALIGNMENT = 8;

interface Table<H> {
  readonly header: H;
  /** In file order, without gaps, from the first multiple of `ALIGNMENT` after the table. */
  readonly sections: readonly {
    readonly name: string;
    readonly type: ArrayType;
    /** In bytes. */
    readonly length: number;
    /** One for each block. */
    readonly checksums: readonly number[];
  }[];
}

/** The parts of a file in order. Sections are not copied. */
export function* toSections(header: object, parts: FileParts): Generator<Uint8Array> {
  const sections = Object.entries(parts).map(([name, part]) => ({
    name,
    type: part.constructor.name as ArrayType,
    length: part.byteLength,
    checksums: blocksOf(part).map((block) => crc32(block)),
  }));
  const table: Table<object> = { header, sections };
  const json = Buffer.from(JSON.stringify(table), "utf8");
  const head = Buffer.alloc(PREFIX + json.length + gapAfter(PREFIX + json.length));
  head.write(MAGIC, "latin1");
  head.writeUInt32LE(VERSION, 8);
  head.writeUInt32LE(json.length, 16);
  json.copy(head, PREFIX);
  head.writeUInt32LE(crc32(head.subarray(16)), 12);
  yield head;
  for (const part of Object.values(parts)) yield* blocksOf(part);
}

/** Reads a file from `toSections`. Checks every block. */
export async function readSections<H>(
  path: string,
  memoryOf: PartMemory<H>,
): Promise<OpenedSnapshot<{ readonly header: H; readonly parts: FileParts }>> {
  let file: FileHandle;
  try {
    file = await open(path);
  } catch (error) {
    return unreadable(error);
  }
  try {
    const { size } = await file.stat();
    const table = await readTable<H>(file, size);
    if (!table.ok) return table;
    const { header, sections, start } = table.value;
    const parts: [string, FileParts[string]][] = [];
    const blocks: FileBlock[] = [];
    let position = start;
    for (const { name, type, length, checksums } of sections) {
      const memory = memoryOf(name, length, header) ?? new Uint8Array(length);
      const count = length / TYPES[type].BYTES_PER_ELEMENT;
      parts.push([name, new TYPES[type](memory.buffer as ArrayBuffer, memory.byteOffset, count)]);
      for (const [at, bytes] of blocksOf(memory).entries()) {
        blocks.push({ bytes, position, checksum: checksums[at]! });
        position += bytes.length;
      }
    }
    if (position !== size) return { ok: false, reason: "its size is wrong" };
    return (await readBlocks(file, blocks))
      ? { ok: true, value: { header, parts: Object.fromEntries(parts) } }
      : { ok: false, reason: "its checksum is wrong" };
  } catch (error) {
    return unreadable(error);
  } finally {
    await file.close();
  }
}

async function readTable<H>(
  file: FileHandle,
  size: number,
): Promise<OpenedSnapshot<Table<H> & { start: number }>> {
  if (size < PREFIX) return { ok: false, reason: "it is too short" };
  const prefix = Buffer.alloc(PREFIX);
  await file.read(prefix, 0, PREFIX, 0);
  if (prefix.toString("latin1", 0, MAGIC.length) !== MAGIC) {
    return { ok: false, reason: "it is no search snapshot" };
  }
  const version = prefix.readUInt32LE(8);
  if (version !== VERSION) return { ok: false, reason: `it is of version ${version}, not ${VERSION}` };
  const length = prefix.readUInt32LE(16);
  const start = PREFIX + length + gapAfter(PREFIX + length);
  if (start > size) return { ok: false, reason: "it is too short" };
  const body = Buffer.alloc(start - PREFIX);
  await file.read(body, 0, body.length, PREFIX);
  if (crc32(body, crc32(prefix.subarray(16))) !== prefix.readUInt32LE(12)) {
    return { ok: false, reason: "its checksum is wrong" };
  }
  return {
    ok: true,
    value: { ...(JSON.parse(body.toString("utf8", 0, length)) as Table<H>), start },
  };
}

interface FileBlock {
  readonly bytes: Uint8Array;
  readonly position: number;
  readonly checksum: number;
}

/** False if a block is damaged or missing. */
async function readBlocks(file: FileHandle, blocks: readonly FileBlock[]): Promise<boolean> {
  let next = 0;
  let isSound = true;
  async function readOn(): Promise<void> {
    while (isSound && next < blocks.length) {
      const { bytes, position, checksum } = blocks[next++]!;
      if (!(await fill(file, bytes, position)) || crc32(bytes) !== checksum) isSound = false;
    }
  }
  await Promise.all(Array.from({ length: READERS }, readOn));
  return isSound;
}

async function fill(file: FileHandle, bytes: Uint8Array, position: number): Promise<boolean> {
  for (let filled = 0; filled < bytes.length; ) {
    const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, position + filled);
    if (bytesRead === 0) return false;
    filled += bytesRead;
  }
  return true;
}

function blocksOf({ buffer, byteOffset, byteLength }: NodeJS.ArrayBufferView): Uint8Array[] {
  const bytes = new Uint8Array(buffer, byteOffset, byteLength);
  const count = Math.ceil(byteLength / BLOCK);
  return Array.from({ length: count }, (_, at) => bytes.subarray(at * BLOCK, (at + 1) * BLOCK));
}

function gapAfter(size: number): number {
  return (ALIGNMENT - (size % ALIGNMENT)) % ALIGNMENT;
}

function unreadable(error: unknown): { ok: false; reason: string } {
  const { code = "unknown" } = error as NodeJS.ErrnoException;
  return { ok: false, reason: `the file cannot be read (${code})` };
}
