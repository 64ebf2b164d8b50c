import { execFile } from "node:child_process";
import { mkdir, open, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ChatImage } from "../tui/chat-agent.ts";
import { describeImage, hashOf, imageTypeOf } from "../workspace/file-content.ts";

type Clipboard = { readonly image: Buffer } | { readonly text: string };

type ClipboardCommand = readonly [program: string, ...args: string[]];

const WAYLAND = ["wl-paste", "--no-newline", "--type"] as const;
const X11 = ["xclip", "-selection", "clipboard"] as const;

/** The programs that read the clipboard, each if its system is there: for images, then for text. */
function programsOf(
  platform: NodeJS.Platform,
  { WAYLAND_DISPLAY, DISPLAY }: NodeJS.ProcessEnv,
): { images: readonly ClipboardCommand[]; texts: readonly ClipboardCommand[] } {
  if (platform === "darwin")
    return { images: [["osascript", "-e", "the clipboard as «class PNGf»"]], texts: [["pbpaste"]] };
  return {
    images: [
      ...(WAYLAND_DISPLAY ? [[...WAYLAND, "image/png"] as const] : []),
      ...(DISPLAY ? [[...X11, "-t", "image/png", "-o"] as const] : []),
    ],
    texts: [
      ...(WAYLAND_DISPLAY ? [[...WAYLAND, "text"] as const] : []),
      ...(DISPLAY ? [[...X11, "-o"] as const] : []),
    ],
  };
}

const TIME_LIMIT_MS = 5_000;
const MOST_BYTES = 32 * 2 ** 20;

/** Reads the clipboard by the system's own programs: an image, or otherwise text; undefined if there is neither. */
export async function readClipboard(
  platform: NodeJS.Platform = process.platform,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Clipboard | undefined> {
  const { images, texts } = programsOf(platform, env);
  for (const command of images) {
    const image = fromAppleScript(await run(command, env));
    if (image && imageTypeOf(image)) return { image };
  }
  for (const command of texts) {
    const text = (await run(command, env))?.toString("utf8");
    if (text) return { text };
  }
  return undefined;
}

function run([program, ...args]: ClipboardCommand, env: NodeJS.ProcessEnv): Promise<Buffer | undefined> {
  const options = { env, timeout: TIME_LIMIT_MS, maxBuffer: MOST_BYTES, encoding: "buffer" as const };
  return new Promise((resolve) => {
    execFile(program, args, options, (error, stdout) => resolve(error ? undefined : stdout));
  });
}

/** AppleScript writes an image as «data PNGf89504E47…»; other programs write its bytes. */
function fromAppleScript(output: Buffer | undefined): Buffer | undefined {
  if (!output || imageTypeOf(output)) return output;
  const [, hex] = /data \w{4}([0-9A-F]+)/.exec(output.toString("utf8")) ?? [];
  return hex === undefined ? undefined : Buffer.from(hex, "hex");
}

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

/**
 * Keeps an image under its hash in a folder of the owner alone, so that a person can open it. Returns its path with a
 * line about it; undefined for other files.
 */
export async function keepImage(
  folder: string,
  bytes: Buffer,
): Promise<{ readonly path: string; readonly about: string } | undefined> {
  const mediaType = imageTypeOf(bytes);
  if (mediaType === undefined) return undefined;
  const path = join(folder, `${hashOf(bytes).slice(0, 16)}.${mediaType.slice("image/".length)}`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(path, bytes, { mode: 0o600 });
  return { path, about: describeImage(mediaType, bytes) };
}

const DAY_MS = 24 * 60 * 60_000;

/** Deletes images that were kept longer; 0 keeps them all. */
export async function removeOldImages(folder: string, maxAgeDays: number): Promise<void> {
  if (maxAgeDays === 0) return;
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const about = await stat(path).catch(() => undefined);
    if (about?.isFile() && about.mtimeMs < Date.now() - maxAgeDays * DAY_MS) await rm(path, { force: true });
  }
}
