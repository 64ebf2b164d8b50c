import { createHash } from "node:crypto";
import { mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describeImage, imageTypeOf } from "../util/image-bytes.ts";

/** Images of a chat as files that a person can open. */
export interface KeptImages {
  /** Keeps an image and returns its path with a line about it; undefined for other files. */
  keep(bytes: Uint8Array): Promise<{ readonly path: string; readonly about: string } | undefined>;
}

const DAY_MS = 24 * 60 * 60_000;

/** Keeps images in a folder of the owner alone, under their hash, and deletes those that are older. */
export function openKeptImages(folder: string, maxAgeDays: number): KeptImages {
  void removeOld(folder, maxAgeDays).catch(() => {});
  return {
    keep: async (bytes) => {
      const mediaType = imageTypeOf(bytes);
      if (mediaType === undefined) return undefined;
      const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 16);
      const path = join(folder, `${hash}.${mediaType.slice("image/".length)}`);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeFile(path, bytes, { mode: 0o600 });
      return { path, about: describeImage(mediaType, bytes) };
    },
  };
}

async function removeOld(folder: string, maxAgeDays: number): Promise<void> {
  if (maxAgeDays === 0) return;
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const about = await stat(path).catch(() => undefined);
    if (about?.isFile() && about.mtimeMs < Date.now() - maxAgeDays * DAY_MS) await rm(path, { force: true });
  }
}
