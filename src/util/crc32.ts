/** Checksum that detects accidental damage. The first call loads `node:zlib`. */
export function crc32(data: string | NodeJS.ArrayBufferView): number {
  return process.getBuiltinModule("node:zlib").crc32(data);
}
