import { open } from "node:fs/promises";
import type { PromptFile } from "../agent/prompt-file.ts";

const MAX_BYTES = 10 * 2 ** 20;
const TYPES: readonly (readonly [type: string, start: RegExp])[] = [
  ["image/png", /^\x89PNG/],
  ["image/jpeg", /^\xff\xd8\xff/],
  ["image/gif", /^GIF8/],
  ["image/webp", /^RIFF.{4}WEBP/s],
];

/** An image for a prompt, told by its first bytes; undefined for other files and those over 10 MB. */
export async function readImage(path: string): Promise<PromptFile | undefined> {
  const file = await open(path, "r").catch(() => undefined);
  if (!file) return undefined;
  try {
    const stat = await file.stat();
    if (!stat.isFile() || stat.size > MAX_BYTES) return undefined;
    const { buffer, bytesRead } = await file.read(Buffer.alloc(16), 0, 16, 0);
    const start = buffer.toString("latin1", 0, bytesRead);
    const mediaType = TYPES.find(([, pattern]) => pattern.test(start))?.[0];
    if (mediaType === undefined) return undefined;
    return { mediaType, data: (await file.readFile()).toString("base64") };
  } finally {
    await file.close();
  }
}
