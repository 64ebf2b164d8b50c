import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Card, Place } from "./place.ts";

/** Longer paths of sockets are cut by some systems. */
const MAX_PATH = 100;

/** Makes the card of a new daemon. Undefined if the folder's path is too long for a socket. */
export function newCard({ folder }: Place, version: string): Card | undefined {
  const id = randomBytes(6).toString("hex");
  const path =
    process.platform === "win32" ? `\\\\.\\pipe\\keyhole-${process.pid}-${id}` : join(folder, `${id}.sock`);
  if (process.platform !== "win32" && Buffer.byteLength(path) > MAX_PATH) return undefined;
  return { pid: process.pid, version, path, token: randomBytes(32).toString("base64url") };
}
