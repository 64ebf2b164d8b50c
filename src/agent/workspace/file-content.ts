import { createHash } from "node:crypto";
import { problem } from "../../schema/problem.ts";
import { withOpenFile } from "./pinned-folder.ts";
import { fail, toProblem } from "./tool-response.ts";

export const MAX_FILE_BYTES = 10 * 1024 * 1024;
const SNIFFED_BYTES = 8_192;

export interface FileContent {
  readonly bytes: Buffer;
  readonly mode: number;
  readonly hash: string;
}

/** All of a regular file that is not too large; undefined where there is none. */
export async function loadFile(path: string): Promise<FileContent | undefined> {
  try {
    return await withOpenFile(path, async (file) => {
      const stat = await file.stat();
      if (!stat.isFile())
        throw notUsable(path, stat.isDirectory() ? "it is a folder" : "it is no regular file");
      if (stat.size > MAX_FILE_BYTES) {
        throw problem("LIMIT_EXCEEDED", {
          what: `The size of ${path}`,
          actual: stat.size,
          limit: MAX_FILE_BYTES,
        });
      }
      // A file may grow while it is read, and files of the system say that they are empty.
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

/** Text that is given back byte by byte as it was; undefined for what is not UTF-8. */
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
