import { realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { z } from "zod";
import { createRecordStore } from "../access/record-store.ts";
import { projectFolders } from "../util/project-folders.ts";
import { type FolderContents, folderContents } from "./folder-contents.ts";

const trustSchema = z.object({
  /** The hash of the contents that the person was shown. */
  hash: z.string(),
  /** Milliseconds since 1970. */
  trustedAt: z.number(),
});

/**
 * Whether a person has trusted the folder with what it holds now. A folder without code of its own takes the trust
 * of the nearest folder above it in the same repository.
 */
export async function isTrusted(given: string, home = homedir()): Promise<boolean> {
  const trusted = openTrust(home);
  if (trusted.keys().length === 0) return false;
  const folder = await realpath(given).catch(() => resolve(given));
  for (const each of await projectFolders(folder)) {
    const record = trusted.get(each);
    const contents = await folderContents(each);
    if (record) return record.hash === contents.hash;
    if (contents.files.length > 0) return false;
  }
  return false;
}

/** Records that a person trusts a folder with exactly these contents. */
export async function recordTrust({ folder, hash }: FolderContents, home = homedir()): Promise<void> {
  await openTrust(home).change(new Map([[folder, { hash, trustedAt: Date.now() }]]));
}

/** Forgets the trust in a folder. Resolves to false if there was none. */
export async function endTrust({ folder }: FolderContents, home = homedir()): Promise<boolean> {
  const trusted = openTrust(home);
  if (trusted.get(folder) === undefined) return false;
  await trusted.change(new Map([[folder, undefined]]));
  return true;
}

function openTrust(home: string) {
  const path = join(home, ".keyhole", "trusted-folders.json");
  return createRecordStore({ path, format: 1, record: trustSchema, counted: "trusted" });
}
