import { type FileHandle, open } from "node:fs/promises";
import { crc32 } from "../base/util/content-hash.ts";

export type OpenedSnapshot<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: string };

/** The named parts of a file, each in memory of its own, where it is aligned and stays. */
export interface Sections {
  has(name: string): boolean;
  bytes(name: string): Uint8Array;
  shorts(name: string): Uint16Array;
  words(name: string): Uint32Array;
  floats(name: string): Float32Array;
}

/** The memory that a section is read into; by default new memory. */
export type SnapshotSection<H> = (name: string, length: number, header: H) => Uint8Array | undefined;

const MAGIC = "KHSEARCH";
/** Rises with every change of the format or of what the analysis makes of a text. */
const VERSION = 4;
/** Magic, version, checksum of the header, length of the header. */
const PREFIX = 20;
/** Bytes with a checksum of their own. */
const BLOCK = 2 ** 23;
/** Blocks that are read at the same time: one may be checked while others come. */
const READERS = 3;
const ALIGNMENT = 8;

interface Table<H> {
  readonly header: H;
  /** In the order of the file, without gaps, from the first multiple of `ALIGNMENT` behind the table. */
  readonly sections: readonly {
    readonly name: string;
    readonly length: number;
    /** One for each block. */
    readonly checksums: readonly number[];
  }[];
}

/** The pieces of a file, one after another. Sections are not copied. */
export function* toSections(
  header: object,
  parts: Readonly<Record<string, ArrayBufferView>>,
): Generator<Uint8Array> {
  const all = Object.entries(parts).map(([name, part]) => {
    const bytes = new Uint8Array(part.buffer, part.byteOffset, part.byteLength);
    const blocks = blocksOf(bytes.length).map(([from, to]) => bytes.subarray(from, to));
    return { name, blocks, length: bytes.length, checksums: blocks.map((block) => crc32(block)) };
  });
  const table: Table<object> = {
    header,
    sections: all.map(({ name, length, checksums }) => ({ name, length, checksums })),
  };
  const json = Buffer.from(JSON.stringify(table), "utf8");
  const head = Buffer.alloc(PREFIX + json.length + gapAfter(PREFIX + json.length));
  head.write(MAGIC, "latin1");
  head.writeUInt32LE(VERSION, 8);
  head.writeUInt32LE(json.length, 16);
  json.copy(head, PREFIX);
  head.writeUInt32LE(crc32(head.subarray(16)), 12);
  yield head;
  for (const { blocks } of all) yield* blocks;
}

/** Reads a file that `toSections` made. Every block is checked. */
export async function readSections<H>(
  path: string,
  place: SnapshotSection<H>,
): Promise<OpenedSnapshot<{ readonly header: H; readonly sections: Sections }>> {
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
    const memory = new Map<string, Uint8Array>();
    const wanted: { bytes: Uint8Array; position: number; checksum: number }[] = [];
    let position = start;
    for (const { name, length, checksums } of sections) {
      const bytes = place(name, length, header) ?? new Uint8Array(new ArrayBuffer(length));
      memory.set(name, bytes);
      for (const [at, [from, to]] of blocksOf(length).entries()) {
        wanted.push({
          bytes: bytes.subarray(from, to),
          position: position + from,
          checksum: checksums[at]!,
        });
      }
      position += length;
    }
    if (position !== size) return { ok: false, reason: "its size is wrong" };
    return (await readBlocks(file, wanted))
      ? { ok: true, value: { header, sections: viewsOf(memory) } }
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
  const rest = Buffer.alloc(start - PREFIX);
  await file.read(rest, 0, rest.length, PREFIX);
  if (crc32(rest, crc32(prefix.subarray(16))) !== prefix.readUInt32LE(12)) {
    return { ok: false, reason: "its checksum is wrong" };
  }
  return {
    ok: true,
    value: { ...(JSON.parse(rest.toString("utf8", 0, length)) as Table<H>), start },
  };
}

/** False if a block is damaged or missing. */
async function readBlocks(
  file: FileHandle,
  blocks: readonly { bytes: Uint8Array; position: number; checksum: number }[],
): Promise<boolean> {
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

function viewsOf(memory: ReadonlyMap<string, Uint8Array>): Sections {
  const bytes = (name: string): Uint8Array => memory.get(name)!;
  const view = <T>(
    type: {
      new (buffer: ArrayBuffer, offset: number, length: number): T;
      readonly BYTES_PER_ELEMENT: number;
    },
    name: string,
  ): T => {
    const { buffer, byteOffset, length } = bytes(name);
    return new type(buffer as ArrayBuffer, byteOffset, length / type.BYTES_PER_ELEMENT);
  };
  return {
    has: (name) => memory.has(name),
    bytes,
    shorts: (name) => view(Uint16Array, name),
    words: (name) => view(Uint32Array, name),
    floats: (name) => view(Float32Array, name),
  };
}

function blocksOf(length: number): [from: number, to: number][] {
  const count = Math.ceil(length / BLOCK);
  return Array.from({ length: count }, (_, at) => [at * BLOCK, Math.min(length, (at + 1) * BLOCK)]);
}

function gapAfter(size: number): number {
  return (ALIGNMENT - (size % ALIGNMENT)) % ALIGNMENT;
}

function unreadable(error: unknown): { ok: false; reason: string } {
  const { code = "unknown" } = error as NodeJS.ErrnoException;
  return { ok: false, reason: `the file cannot be read (${code})` };
}
