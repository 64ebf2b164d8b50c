import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { hashBytes } from "../../base/tokens/token-table.ts";
import { isRunning } from "../../base/util/process-marker.ts";
import { isOwnFolder } from "../../sources/mcp/own-folder.ts";
import { cacheFolder, setStateFolder } from "../open/user-folders.ts";

/** The folder in which a person's daemon can be found. Another person can neither read nor write it. */
export interface DaemonPaths {
  readonly folder: string;
  /** The file with the address of the daemon in use. */
  readonly address: string;
  /** Exists while a process starts a daemon. */
  readonly lock: string;
  readonly log: string;
  /** The database with the sessions and results of clients, for the next daemon. */
  readonly stored: string;
}

export interface DaemonAddress {
  readonly pid: number;
  readonly version: string;
  /** The Unix socket, or on Windows the named pipe. */
  readonly path: string;
  /** Only a process that can read the address may connect: named pipes are open to other users. */
  readonly token: string;
}

/** The files of a person's daemon. Daemons of different folders know nothing of each other. */
export function daemonPaths(
  { state, cache, home } = { state: setStateFolder(), cache: cacheFolder(), home: homedir() },
): DaemonPaths {
  const folder = join(state, "daemon");
  const name = nameOf(cache) + nameOf(home);
  const file = (ending: string) => join(folder, `${name}.${ending}`);
  return { folder, address: file("json"), lock: file("lock"), log: file("log"), stored: file("db") };
}

/** Reads how to reach the daemon. Undefined if there is none, or if another person could have written the file. */
export function readAddress({ folder, address }: DaemonPaths): DaemonAddress | undefined {
  try {
    if (!isOwnFolder(folder)) return undefined;
    const { pid, version, path, token } = JSON.parse(readFileSync(address, "utf8"));
    const isWhole = [version, path, token].every((text) => typeof text === "string" && text !== "");
    return isWhole && Number.isInteger(pid) ? { pid, version, path, token } : undefined;
  } catch {
    return undefined;
  }
}

/** Writes the address of a daemon over that of an earlier one. */
export function writeAddress(paths: DaemonPaths, address: DaemonAddress): void {
  const before = readAddress(paths);
  // A daemon that was killed leaves its socket.
  if (before && process.platform !== "win32" && !isRunning(before.pid)) rmSync(before.path, { force: true });
  const draft = `${paths.address}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(address), { mode: 0o600 });
  renameSync(draft, paths.address);
}

/** Whether the daemon in use is still this one. */
export function isCurrent(paths: DaemonPaths, { token }: DaemonAddress): boolean {
  return readAddress(paths)?.token === token;
}

/** Removes the address of a daemon, unless another daemon has replaced it. */
export function removeAddress(paths: DaemonPaths, address: DaemonAddress): void {
  if (isCurrent(paths, address)) rmSync(paths.address, { force: true });
}

/** A short name for a folder. Every client would need 1 MB for `node:crypto`, and nobody has to be kept from guessing. */
function nameOf(folder: string): string {
  const bytes = Buffer.from(folder);
  return (hashBytes(bytes, 0, bytes.length) >>> 0).toString(16).padStart(8, "0");
}
