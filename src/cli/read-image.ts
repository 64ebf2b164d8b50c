import { open } from "node:fs/promises";
import type { ChatImage } from "../tui/chat-agent.ts";
import { describeImage, imageTypeOf } from "../util/image-bytes.ts";

const MAX_BYTES = 10 * 2 ** 20;

/** An image for a prompt, recognised by its first bytes; undefined for other files and those over 10 MB. */
export async function readImage(path: string): Promise<ChatImage | undefined> {
  const file = await open(path, "r").catch(() => undefined);
  if (!file) return undefined;
  try {
    const stat = await file.stat();
    if (!stat.isFile() || stat.size > MAX_BYTES) return undefined;
    const { buffer, bytesRead } = await file.read(Buffer.alloc(16), 0, 16, 0);
    const mediaType = imageTypeOf(buffer.subarray(0, bytesRead));
    if (mediaType === undefined) return undefined;
    const bytes = Buffer.alloc(stat.size);
    await file.read(bytes, 0, stat.size, 0);
    return { mediaType, data: bytes.toString("base64"), about: describeImage(mediaType, bytes) };
  } finally {
    await file.close();
  }
}
