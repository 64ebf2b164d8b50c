import { createHash } from "node:crypto";
import { problem } from "../../schema/problem.ts";
import { withOpenFile } from "./pinned-folder.ts";
import { fail, toProblem } from "./tool-response.ts";

export const MAX_FILE_BYTES = 10 * 1024 * 1024;
const SNIFFED_BYTES = 8_192;

/** A file as it was read. */
export interface FileContent {
  readonly bytes: Buffer;
  readonly mode: number;
  readonly hash: string;
}

/**
 * Reads a whole regular file; undefined if it does not exist.
 * @throws `INVALID_INPUT` for other kinds of files, `LIMIT_EXCEEDED` over 10 MB.
 */
export async function loadFile(path: string): Promise<FileContent | undefined> {
  try {
    return await withOpenFile(path, async (file) => {
      const stat = await file.stat();
      if (!stat.isFile())
        throw notUsable(path, stat.isDirectory() ? "it is a folder" : "it is not a regular file");
      if (stat.size > MAX_FILE_BYTES) {
        throw problem("LIMIT_EXCEEDED", {
          what: `The size of ${path}`,
          actual: stat.size,
          limit: MAX_FILE_BYTES,
        });
      }
      // Files may grow during the read, and system files report a size of 0.
      const bytes = Buffer.alloc(Math.max(stat.size, SNIFFED_BYTES) + 1);
      let length = 0;
      while (length < bytes.length) {
        const { bytesRead } = await file.read(bytes, length, bytes.length - length, null);
        if (bytesRead === 0) break;
        length += bytesRead;
      }
      const content = bytes.subarray(0, length);
      return { bytes: content, mode: stat.mode & 0o7777, hash: hashOf(content) };
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

export function hashOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

export function isBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, SNIFFED_BYTES).includes(0);
}

/** The text of UTF-8 bytes, which encodes to the same bytes again; undefined for other bytes. */
export function toText(bytes: Uint8Array): string | undefined {
  if (isBinary(bytes)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

export function notUsable(path: string, reason: string) {
  return toProblem(fail("INVALID_PARAMS", `${path} cannot be used: ${reason}.`));
}
