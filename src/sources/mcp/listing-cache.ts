import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { PriorDiscovery } from "@modelcontextprotocol/client";
import { z } from "zod";
import { contentHash } from "../../util/content-hash.ts";
import { writeFileAtomic } from "../../util/write-file-atomic.ts";
import type { Listing } from "./listing.ts";

/** A listing that is kept for the next start. */
export interface Remembered {
  /** Milliseconds since 1970. */
  readonly savedAt: number;
  /** The protocol that the server speaks. */
  readonly era?: PriorDiscovery;
  readonly listing: Listing;
}

export interface ListingCache {
  /** Returns undefined if nothing is stored or the file is damaged. */
  read(): Promise<Remembered | undefined>;
  /** May fail: then the next start lists the server again. */
  write(remembered: Remembered): Promise<void>;
}

const FORMAT = 1;

const named = z.object({ name: z.string() }).loose();
const fileSchema = z.object({
  format: z.literal(FORMAT),
  checksum: z.string(),
  content: z.object({
    savedAt: z.number(),
    era: z.unknown().optional(),
    listing: z.object({
      instructions: z.string().optional(),
      tools: z.array(named),
      prompts: z.array(named),
      resources: z.array(named.extend({ uri: z.string() })),
      templates: z.array(named.extend({ uriTemplate: z.string() })),
      skills: z.array(named.extend({ uri: z.string() })).default([]),
      warnings: z.array(z.string()),
      leftOut: z.array(z.string()).default([]),
    }),
  }),
});

/** Stores listings in a folder, by label and hash of the config: another config is another server. */
export function createListingCache(folder: string, label: string, config: unknown): ListingCache {
  const digest = contentHash(JSON.parse(JSON.stringify(config))).slice(0, 32);
  const path = join(folder, `${label}-${digest}.json`);
  return {
    read: async () => {
      try {
        const file = fileSchema.parse(JSON.parse(await readFile(path, "utf8")));
        if (contentHash(file.content) !== file.checksum) return undefined;
        return file.content as unknown as Remembered;
      } catch {
        return undefined;
      }
    },
    write: async (remembered) => {
      const content = JSON.parse(JSON.stringify(remembered));
      const file = { format: FORMAT, checksum: contentHash(content), content };
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeFileAtomic(path, JSON.stringify(file));
    },
  };
}
