import { open } from "node:fs/promises";
import { endianness } from "node:os";
import { crc32 } from "../util/crc32.ts";
import { writeFileAtomic } from "../util/write-file-atomic.ts";
import { NameBits } from "./lexical/name-bits.ts";
import type { Facet, Segment } from "./lexical/segment.ts";
import { StringTable } from "./lexical/string-table.ts";

export interface Snapshot {
  readonly segment: Segment;
  /** In the words of who saved it. */
  readonly note: string;
  /** The embedder and its vectors. */
  readonly vectors?: { readonly embedder: string; readonly bytes: Uint8Array };
}

export type Opened<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: string };

const MAGIC = "KHSEARCH";
/** Rises with every change of the format or of what the analysis makes of a text. */
const VERSION = 3;
/** Magic, version, checksum of all that follows, length of the header. */
const PREFIX = 20;
const CHECKED_FROM = 16;
const ALIGNMENT = 8;
const READ_STEP = 2 ** 24;

interface Header {
  readonly sections: Readonly<Record<string, readonly [offset: number, length: number]>>;
  readonly wideIds: boolean;
  readonly wideTerms: boolean;
  readonly facets: readonly Facet[];
  readonly note: string;
  readonly embedder?: string;
}

/** Writes the snapshot whole: a reader sees the old file or the new one. */
export function writeSnapshot(path: string, snapshot: Snapshot): Promise<void> {
  return writeFileAtomic(path, encode(snapshot));
}

/** Reads a snapshot without analysing anything again; says why where it cannot be used. */
export async function readSnapshot(path: string): Promise<Opened<Snapshot>> {
  let read: { file: Buffer; checksum: number };
  try {
    read = await readChecked(path);
  } catch (error) {
    return refused(`the file cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown"})`);
  }
  const { file, checksum } = read;
  if (endianness() !== "LE") return refused("it is for little-endian machines");
  if (file.length < PREFIX) return refused("it is too short");
  if (file.toString("latin1", 0, MAGIC.length) !== MAGIC) return refused("it is no search snapshot");
  if (file.readUInt32LE(8) !== VERSION)
    return refused(`it is of version ${file.readUInt32LE(8)}, not ${VERSION}`);
  if (file.readUInt32LE(12) !== checksum) return refused("its checksum is wrong");
  try {
    return { ok: true, value: decode(file) };
  } catch {
    return refused("its parts do not fit together");
  }
}

/**
 * Reads a file into memory of its own, where every section is aligned and stays. The checksum of one piece is
 * computed while the next one is read.
 */
async function readChecked(path: string): Promise<{ file: Buffer; checksum: number }> {
  const handle = await open(path);
  try {
    const { size } = await handle.stat();
    const file = Buffer.allocUnsafeSlow(size);
    let checksum = 0;
    let checked = CHECKED_FROM;
    let filled = 0;
    while (filled < size) {
      const reading = handle.read(file, filled, Math.min(READ_STEP, size - filled), filled);
      if (filled > checked) checksum = crc32(file.subarray(checked, filled), checksum);
      checked = Math.max(checked, filled);
      const { bytesRead } = await reading;
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    const whole = file.subarray(0, filled);
    return { file: whole, checksum: crc32(whole.subarray(Math.min(checked, filled)), checksum) };
  } finally {
    await handle.close();
  }
}

function encode({ segment, note, vectors }: Snapshot): Buffer {
  const parts: Record<string, ArrayBufferView> = {
    idUnits: segment.ids.units,
    idOffsets: segment.ids.offsets,
    termUnits: segment.terms.units,
    termOffsets: segment.terms.offsets,
    starts: segment.starts,
    documents: segment.documents,
    impacts: segment.impacts,
    fields: segment.fields,
    maxImpacts: segment.maxImpacts,
    names: segment.names.words,
    facetOf: segment.facetOf,
    ...(vectors && { vectors: vectors.bytes }),
  };
  const sections: Record<string, [number, number]> = {};
  let size = 0;
  for (const [name, part] of Object.entries(parts)) {
    sections[name] = [size, part.byteLength];
    size = aligned(size + part.byteLength);
  }
  const header: Header = {
    sections,
    wideIds: segment.ids.units.BYTES_PER_ELEMENT === 2,
    wideTerms: segment.terms.units.BYTES_PER_ELEMENT === 2,
    facets: segment.facets,
    note,
    ...(vectors && { embedder: vectors.embedder }),
  };
  const json = Buffer.from(JSON.stringify(header), "utf8");
  const base = aligned(PREFIX + json.length);
  const file = Buffer.alloc(base + size);
  file.write(MAGIC, "latin1");
  file.writeUInt32LE(VERSION, 8);
  file.writeUInt32LE(json.length, 16);
  json.copy(file, PREFIX);
  for (const [name, part] of Object.entries(parts)) {
    file.set(new Uint8Array(part.buffer, part.byteOffset, part.byteLength), base + sections[name]![0]);
  }
  file.writeUInt32LE(crc32(file.subarray(CHECKED_FROM)), 12);
  return file;
}

function decode(file: Buffer): Snapshot {
  const headerLength = file.readUInt32LE(16);
  const header = JSON.parse(file.toString("utf8", PREFIX, PREFIX + headerLength)) as Header;
  const base = aligned(PREFIX + headerLength);
  const section = (name: string): [ArrayBuffer, number, number] => {
    const [offset, length] = header.sections[name]!;
    return [file.buffer as ArrayBuffer, base + offset, length];
  };
  const bytes = (name: string): Uint8Array => view(Uint8Array, section(name));
  const shorts = (name: string): Uint16Array => view(Uint16Array, section(name));
  const words = (name: string): Uint32Array => view(Uint32Array, section(name));
  const segment: Segment = {
    ids: new StringTable(header.wideIds ? shorts("idUnits") : bytes("idUnits"), words("idOffsets")),
    terms: new StringTable(header.wideTerms ? shorts("termUnits") : bytes("termUnits"), words("termOffsets")),
    starts: words("starts"),
    documents: words("documents"),
    impacts: shorts("impacts"),
    fields: bytes("fields"),
    maxImpacts: shorts("maxImpacts"),
    names: new NameBits(words("names")),
    facets: header.facets,
    facetOf: words("facetOf"),
  };
  const { note } = header;
  if (header.embedder === undefined) return { segment, note };
  return { segment, note, vectors: { embedder: header.embedder, bytes: bytes("vectors") } };
}

function view<T>(
  type: { new (buffer: ArrayBuffer, offset: number, length: number): T; readonly BYTES_PER_ELEMENT: number },
  [buffer, offset, length]: [ArrayBuffer, number, number],
): T {
  return new type(buffer, offset, length / type.BYTES_PER_ELEMENT);
}

function aligned(size: number): number {
  return Math.ceil(size / ALIGNMENT) * ALIGNMENT;
}

function refused(reason: string): { ok: false; reason: string } {
  return { ok: false, reason: `The search snapshot is not used: ${reason}.` };
}
