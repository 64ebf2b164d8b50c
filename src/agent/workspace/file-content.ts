import { createHash } from "node:crypto";
import { constants, type FileHandle, open, readlink, realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isProblem, problem } from "../../base/problems/problem.ts";
import { toolProblem } from "./tool-problem.ts";

export const MAX_FILE_BYTES = 10 * 1024 * 1024;
const SNIFFED_BYTES = 8_192;

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
  return toolProblem("INVALID_PARAMS", `${path} cannot be used: ${reason}.`);
}

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
const HAS_PROC = process.platform === "linux";

/**
 * Works in the folder of a permitted path. Where the system allows it, the folder is held open and reached through
 * its handle, so that replacing it by a link changes nothing.
 * @throws `CONFLICT` if a link has already replaced the folder.
 */
export async function withPinnedFolder<T>(path: string, work: (pinned: string) => Promise<T>): Promise<T> {
  const folder = dirname(path);
  const handle = await open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  try {
    const held = HAS_PROC ? `/proc/self/fd/${handle.fd}` : folder;
    const reached = HAS_PROC ? await readlink(held) : await realpath(folder);
    if (reached !== folder) throw moved(path);
    return await work(join(held, path.slice(folder === "/" ? 1 : folder.length + 1)));
  } finally {
    await handle.close();
  }
}

/**
 * Opens a permitted file for reading.
 * @throws `CONFLICT` if a link has replaced the file.
 */
async function withOpenFile<T>(path: string, work: (file: FileHandle) => Promise<T>): Promise<T> {
  return withPinnedFolder(path, async (pinned) => {
    const file = await open(pinned, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch((error) => {
      throw (error as NodeJS.ErrnoException).code === "ELOOP" ? moved(path) : withPath(error, path);
    });
    try {
      return await work(file);
    } finally {
      await file.close();
    }
  });
}

/** The system's error with the permitted path in place of the pinned one. */
export function withPath(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || isProblem(error)) return error;
  const { code } = error as NodeJS.ErrnoException;
  return code === undefined ? error : Object.assign(error, { message: `${code}: ${path}` });
}

function moved(path: string) {
  return problem("CONFLICT", { reason: `${path} was replaced by a link after it was permitted` });
}

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
