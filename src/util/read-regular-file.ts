import { constants, open } from "node:fs/promises";

/** Reads up to `maxBytes` of a regular file. Undefined for anything else: a pipe or a device could block or never end. */
export async function readRegularFile(path: string, maxBytes: number): Promise<Buffer | undefined> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      if (!(await file.stat()).isFile()) return undefined;
      const { buffer, bytesRead } = await file.read(Buffer.alloc(maxBytes), 0, maxBytes, 0);
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
}
