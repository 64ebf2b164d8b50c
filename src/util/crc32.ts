/** Checksum that detects accidental damage, continued from that of earlier data. The first call loads `node:zlib`. */
export function crc32(data: string | NodeJS.ArrayBufferView, before = 0): number {
  return process.getBuiltinModule("node:zlib").crc32(data, before);
}
