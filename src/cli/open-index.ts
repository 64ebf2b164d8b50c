import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { createEmbeddedIndex } from "../search/embedded-index.ts";
import type { SearchIndex } from "../search/port/search-index.ts";
import { createStaticEmbedder } from "../search/vectors/static-embedder.ts";
import { contentHash } from "../util/content-hash.ts";
import { cacheFolder } from "./user-folders.ts";

/** The search index of a config, which is kept between starts. Unchanged entries are not indexed again. */
export function openIndex(config: string, profile = ""): SearchIndex {
  const folder = join(cacheFolder(), "indexes");
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch {
    // Without the folder the index cannot be kept, which costs the next start some time and nothing else.
  }
  const snapshot = join(folder, `${contentHash([config, profile]).slice(0, 16)}.bin`);
  const index = createEmbeddedIndex({ embedder: createStaticEmbedder(), snapshot });
  // A missing snapshot is reported. The first start has none.
  return existsSync(snapshot) ? index : Object.assign(index, { restore: async () => ({}) });
}
