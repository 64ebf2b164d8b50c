import { crc32, deflateRawSync } from "node:zlib";

export interface ZipEntry {
  /** With forward slashes. */
  readonly path: string;
  readonly bytes: Uint8Array;
  /** Unix permissions. */
  readonly mode: number;
}

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const VERSION = 20;
const UNIX = 3;
const REGULAR_FILE = 0o100000;
const UTF8_NAMES = 0x800;
const DEFLATE = 8;
/** The first of January 1980, so that the same files give the same archive. */
const DATE = 0x21;

/** Packs files into a zip archive. Names are UTF-8. For archives below 4 GB with fewer than 65,535 files. */
export function zip(entries: readonly ZipEntry[]): Buffer {
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { path, bytes, mode } of entries) {
    const name = Buffer.from(path);
    const packed = deflateRawSync(bytes, { level: 9 });
    const common = Buffer.alloc(26);
    common.writeUInt16LE(VERSION, 0);
    common.writeUInt16LE(UTF8_NAMES, 2);
    common.writeUInt16LE(DEFLATE, 4);
    common.writeUInt16LE(DATE, 8);
    common.writeUInt32LE(crc32(bytes), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(bytes.length, 18);
    common.writeUInt16LE(name.length, 22);
    const own = Buffer.alloc(14);
    own.writeUInt32LE(((REGULAR_FILE | mode) << 16) >>> 0, 6);
    own.writeUInt32LE(offset, 10);
    const file = [number32(LOCAL), common, name, packed];
    files.push(...file);
    directory.push(number32(CENTRAL), Buffer.from([VERSION, UNIX]), common, own, name);
    offset += file.reduce((sum, { length }) => sum + length, 0);
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(listed.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...files, listed, number32(END), end]);
}

function number32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
