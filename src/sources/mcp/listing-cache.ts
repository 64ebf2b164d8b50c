import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { PriorDiscovery } from "@modelcontextprotocol/client";
import { contentHash } from "../../base/util/content-hash.ts";
import type { OpenStorage } from "../../base/util/storage.ts";
import { writeFileAtomic } from "../../base/util/write-file-atomic.ts";
import type { Listing } from "./listing.ts";
import { makeOwnFolder, ownFile } from "./own-folder.ts";
import { openTools } from "./packed-tools.ts";
import type { AskedFact } from "./seen-client.ts";

/** A listing stored for the next start. */
export interface CachedListing {
  /** Milliseconds since 1970. */
  readonly savedAt: number;
  /** The protocol that the server speaks. */
  readonly era?: PriorDiscovery;
  /** Facts about clients that the server asked for. */
  readonly asked?: readonly AskedFact[];
  readonly listing: Listing;
}

export type ListingCache = ReturnType<typeof createListingCache>;

const FORMAT = 3;
/** Another thread would take longer than reading a small file. */
const AT_ONCE_BYTES = 64 * 1024;

/**
 * Stores listings in a folder, by label and hash of the program: another program is another server. A file has a
 * checksum line, a line of JSON, and the packed tool definitions. It also says which of them read like instructions to
 * a model, so a file that others could write is ignored.
 */
export function createListingCache(folder: string, label: string, starts: readonly string[]) {
  const path = join(folder, `${nameOf(label, starts)}.listing`);
  return {
    /** Undefined if nothing is stored or the file is damaged. */
    read: async (): Promise<CachedListing | undefined> => {
      try {
        const about = ownFile(folder) && ownFile(path);
        if (!about) return undefined;
        return decode(about.size <= AT_ONCE_BYTES ? readFileSync(path) : await readFile(path));
      } catch {
        return undefined;
      }
    },
    /** May fail: the next start then lists the server again. */
    write: async (remembered: CachedListing): Promise<void> => {
      makeOwnFolder(folder);
      await writeFileAtomic(path, encode(remembered), 0o600);
    },
  };
}

const OWNER = "gateway";
const MOST = { entries: 10_000, size: 1024 ** 3 };
const MONTH_MS = 30 * 86_400_000;

/** Stores listings for all gateways of one state: a later gateway knows the tools that another one listed. */
export function createSharedListings(
  storage: OpenStorage,
  label: string,
  starts: readonly string[],
): ListingCache {
  const listings = storage<string>("listing", { all: MOST, perOwner: MOST, ttlMs: MONTH_MS });
  const name = nameOf(label, starts);
  return {
    read: async () => {
      try {
        const text = await listings.get(name, OWNER);
        return text === undefined ? undefined : decode(Buffer.from(text, "base64"));
      } catch {
        return undefined;
      }
    },
    write: async (remembered) => {
      const text = encode(remembered).toString("base64");
      if ((await listings.update(name, OWNER, () => text)) === undefined)
        await listings.put(name, OWNER, text);
    },
  };
}

function nameOf(label: string, starts: readonly string[]): string {
  return `${label}-${contentHash(starts).slice(0, 32)}`;
}

function encode({ listing, ...about }: CachedListing): Buffer {
  const { index, bytes } = listing.tools;
  const content = JSON.stringify({ ...about, listing: { ...listing, tools: index } });
  const body = Buffer.concat([Buffer.from(`${content}\n`), bytes]);
  const head = JSON.stringify({ format: FORMAT, checksum: hash("sha256", body) });
  return Buffer.concat([Buffer.from(`${head}\n`), body]);
}

/** Throws if the file is damaged. Owner, format and checksum prove that this program wrote it. */
function decode(file: Buffer): CachedListing | undefined {
  const headEnd = file.indexOf("\n");
  const { format, checksum } = JSON.parse(file.toString("utf8", 0, headEnd));
  const body = file.subarray(headEnd + 1);
  if (format !== FORMAT || hash("sha256", body) !== checksum) return undefined;
  const contentEnd = body.indexOf("\n");
  const { listing, ...about } = JSON.parse(body.toString("utf8", 0, contentEnd));
  const tools = openTools(listing.tools, body.subarray(contentEnd + 1));
  return tools && { ...about, listing: { ...listing, tools } };
}
