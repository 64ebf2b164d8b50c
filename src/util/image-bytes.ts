/** The first bytes of the images that models take. */
const TYPES: readonly (readonly [mediaType: string, start: RegExp])[] = [
  ["image/png", /^\x89PNG/],
  ["image/jpeg", /^\xff\xd8\xff/],
  ["image/gif", /^GIF8/],
  ["image/webp", /^RIFF.{4}WEBP/s],
];

/** The media type of an image, by its first bytes; undefined for other files. */
export function imageTypeOf(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.subarray(0, 16)).toString("latin1");
  return TYPES.find(([, pattern]) => pattern.test(start))?.[0];
}

/** Describes an image in one line: its type, its width and height if they can be read, its size. */
export function describeImage(mediaType: string, bytes: Uint8Array): string {
  const size = sizeOf(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const kilobytes = Math.max(1, Math.round(bytes.length / 1_000)).toLocaleString("en-US");
  return [mediaType, ...(size ? [`${size[0]} × ${size[1]}`] : []), `${kilobytes} KB`].join(", ");
}

function sizeOf(bytes: Buffer): readonly [width: number, height: number] | undefined {
  const type = imageTypeOf(bytes);
  if (type === "image/png" && bytes.length >= 24) return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  if (type === "image/gif" && bytes.length >= 10) return [bytes.readUInt16LE(6), bytes.readUInt16LE(8)];
  return type === "image/jpeg" ? jpegSize(bytes) : undefined;
}

/** The size stands in the first start-of-frame segment; every segment before it says how long it is. */
function jpegSize(bytes: Buffer): readonly [width: number, height: number] | undefined {
  let at = 2;
  while (at + 9 < bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1]!;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return [bytes.readUInt16BE(at + 7), bytes.readUInt16BE(at + 5)];
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}
