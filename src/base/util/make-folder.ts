import { existsSync, mkdirSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** Creates a folder and its parents for the owner. Node's recursive mkdir never returns below `/proc`. */
export function makeFolder(folder: string): void {
  const missing: string[] = [];
  for (let at = resolve(folder); !existsSync(at) && dirname(at) !== at; at = dirname(at)) missing.push(at);
  for (const path of missing.reverse()) makeOne(path);
  // Fails if a file has this path.
  if (missing.length === 0) makeOne(`${resolve(folder)}/.`);
}

/** Another process may have created it meanwhile. */
function makeOne(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
