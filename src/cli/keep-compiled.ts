import { enableCompileCache, flushCompileCache } from "node:module";
import { join } from "node:path";
import { makeOwnFolder } from "../util/own-folder.ts";
import { cacheFolder } from "./user-folders.ts";

/** Clients often kill their servers, so the compile cache is written before they can. */
const KEEP_COMPILED_MS = 3_000;

/**
 * Keeps compiled code for the next start, in a folder of the owner alone: whoever can write there can plant code.
 * Without such a folder nothing is kept.
 */
export function keepCompiled(): void {
  const folder = join(cacheFolder(), "compiled");
  if (!makeOwnFolder(folder)) return;
  enableCompileCache(folder);
  setTimeout(flushCompileCache, KEEP_COMPILED_MS).unref();
}
