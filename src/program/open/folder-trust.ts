import { projectFolders, realFolder } from "../../agent/loop/project-files.ts";
import { revoked } from "../../core/access/grants.ts";
import type { FolderContents } from "./folder-contents.ts";
import { openPersonGrants } from "./person-grants.ts";

/**
 * Whether a person has trusted the folder with what it holds now. A folder without code of its own takes the trust
 * of the nearest folder above it in the same repository.
 */
export async function isTrusted(given: string): Promise<boolean> {
  const trusted = openPersonGrants("folder");
  if (trusted.entries().size === 0) return false;
  // Reading a folder needs readers of Markdown, which a session in an untrusted folder does not load.
  const { folderContents } = await import("./folder-contents.ts");
  const folder = await realFolder(given);
  for (const each of await projectFolders(folder)) {
    const record = trusted.get(each);
    const contents = await folderContents(each);
    if (record) return record.hash === contents.hash;
    if (contents.files.length > 0) return false;
  }
  return false;
}

/** Records that a person trusts a folder with exactly these contents. */
export async function recordTrust({ folder, hash }: FolderContents): Promise<void> {
  await openPersonGrants("folder").change(new Map([[folder, { givenAt: Date.now(), hash }]]));
}

/** Forgets the trust in a folder. Resolves to false if there was none. */
export async function endTrust({ folder }: FolderContents): Promise<boolean> {
  return (await openPersonGrants("folder").change(revoked([folder]))) > 0;
}
