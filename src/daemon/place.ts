import { chmodSync, lstatSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isOwnFolder } from "../util/own-folder.ts";

/** The folder in which a person's daemon can be found. Another person can neither read nor write it. */
export interface Place {
  readonly folder: string;
  /** The file that says how to reach the daemon in use. */
  readonly card: string;
  /** Exists while somebody starts a daemon. */
  readonly lock: string;
  readonly log: string;
}

/** How to reach a daemon. */
export interface Card {
  readonly pid: number;
  readonly version: string;
  /** The Unix socket, or on Windows the named pipe. */
  readonly path: string;
  /** Only who can read the card may connect: named pipes are open to other users. */
  readonly token: string;
}

/** The folders of a person. Daemons of different folders know nothing of each other. */
export interface PersonFolders {
  readonly state: string;
  readonly cache: string;
  readonly home: string;
}

export function placeOf({ state, cache, home }: PersonFolders): Place {
  const folder = join(state, "daemon");
  const name = shortHash(`${cache}\0${home}`);
  const file = (ending: string) => join(folder, `${name}.${ending}`);
  return { folder, card: file("json"), lock: file("lock"), log: file("log") };
}

/** FNV-1a, because loading `node:crypto` costs every relay megabytes. Two homes with one state folder are rare. */
function shortHash(text: string): string {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
}

/** Reads how to reach the daemon. Undefined if there is none, or if somebody else could have written the card. */
export function readCard({ folder, card }: Place): Card | undefined {
  try {
    if (!isOwnFolder(folder)) return undefined;
    const { pid, version, path, token } = JSON.parse(readFileSync(card, "utf8"));
    const isWhole = [version, path, token].every((text) => typeof text === "string" && text !== "");
    return isWhole && Number.isInteger(pid) ? { pid, version, path, token } : undefined;
  } catch {
    return undefined;
  }
}

/** Puts the card of a daemon in the place of any earlier one. */
export function writeCard(place: Place, value: Card): void {
  const { card } = place;
  const before = readCard(place);
  // A daemon that was killed leaves its socket.
  if (before && process.platform !== "win32" && !isRunning(before.pid)) rmSync(before.path, { force: true });
  const draft = `${card}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(value), { mode: 0o600 });
  renameSync(draft, card);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Whether the card is still this one. */
export function isCurrent(place: Place, { token }: Card): boolean {
  return readCard(place)?.token === token;
}

/** Removes a card, unless another daemon has replaced it. */
export function removeCard(place: Place, value: Card): void {
  if (isCurrent(place, value)) rmSync(place.card, { force: true });
}

/** Lets only the owner use a socket. */
export function protectSocket(path: string): void {
  if (process.platform !== "win32") chmodSync(path, 0o600);
}

/** Appends to the log of the daemon. A log that has become large starts anew. */
export function logFlags({ log }: Place, maxBytes: number): "a" | "w" {
  return (lstatSync(log, { throwIfNoEntry: false })?.size ?? 0) > maxBytes ? "w" : "a";
}
