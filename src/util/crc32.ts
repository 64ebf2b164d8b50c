/** A checksum against accidents. The library behind it is loaded with the first one. */
export function crc32(data: string | NodeJS.ArrayBufferView): number {
  return process.getBuiltinModule("node:zlib").crc32(data);
}
