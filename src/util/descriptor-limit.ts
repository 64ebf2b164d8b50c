import { readFileSync } from "node:fs";

const USUAL = 1_024;

/** How many files and sockets this process may have open. */
export function descriptorLimit(): number {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    return soft === undefined ? USUAL : Number(soft);
  } catch {
    // Only Linux has the file.
    return USUAL;
  }
}
