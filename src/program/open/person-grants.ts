import { join } from "node:path";
import { type GrantKind, type Grants, openGrantsNow } from "../../core/access/grants.ts";
import { openRecordFile } from "../../core/storage/record-file.ts";
import type { RecordStorage } from "../../core/storage/records.ts";
import { setStateFolder } from "./user-folders.ts";

/** The file in the state folder with everything that the person has approved. */
export const APPROVALS_FILE = "approvals.db";

/** One for each path, so that every reader learns of a damage that another one found. */
const storages = new Map<string, RecordStorage>();
const printed = new Set<string>();

/** Opens what the person has said yes to, which all commands share. */
export function openPersonGrants<K extends GrantKind>(kind: K): Grants<K> {
  const path = join(setStateFolder(), APPROVALS_FILE);
  const storage = storages.get(path) ?? openRecordFile(path);
  storages.set(path, storage);
  const grants = openGrantsNow(storage, kind);
  tellDamage(grants.damage);
  return grants;
}

/** Prints a damage once, whichever store it was found by. */
export function tellDamage(damage: string | undefined): void {
  if (damage === undefined || printed.has(damage)) return;
  printed.add(damage);
  console.error(`${damage} keyhole doctor says what to do.`);
}
