#!/usr/bin/env node
import { enableCompileCache, flushCompileCache } from "node:module";
import { join } from "node:path";
import { makeOwnFolder } from "../sources/mcp/own-folder.ts";
import { cacheFolder } from "./open/user-folders.ts";
import { runProgram } from "./program.ts";

/** Clients often kill their servers, so the compile cache is written before they can. */
const KEEP_COMPILED_MS = 3_000;

keepCompiled();
await runProgram(process.argv.slice(2));

/**
 * Keeps compiled code for the next start, in a folder of the owner alone: whoever can write there can plant code.
 * Without such a folder nothing is kept.
 */
function keepCompiled(): void {
  const folder = join(cacheFolder(), "compiled");
  if (!makeOwnFolder(folder)) return;
  enableCompileCache(folder);
  setTimeout(flushCompileCache, KEEP_COMPILED_MS).unref();
}
