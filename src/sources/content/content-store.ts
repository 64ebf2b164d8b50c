import { hash } from "node:crypto";
import { mkdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { contentHash } from "../../base/util/content-hash.ts";
import { writeFileAtomic } from "../../base/util/write-file-atomic.ts";
import type { ContentSource, RawContent } from "../../core/nouns/pipeline.ts";

const FORMAT = 1;
const MAX_BYTES = 64 * 1024 * 1024;

const rawSchema: z.ZodType<RawContent> = z.looseObject({
  id: z.string(),
  name: z.string(),
  contentType: z.string(),
  content: z.string(),
});
const documentSchema = z.object({
  raw: rawSchema,
  /** When this version was first read. */
  indexedAt: z.number(),
  /** When it was last checked. */
  seenAt: z.number(),
});
const heldSchema = z.object({
  /** When the read ended, in milliseconds since 1970. */
  readAt: z.number(),
  documents: z.array(documentSchema).readonly(),
});

/** The documents of a pipeline, from one complete read. */
export type StoredContent = Readonly<z.infer<typeof heldSchema>>;
export type HeldDocument = Readonly<z.infer<typeof documentSchema>>;

export type ContentStore = ReturnType<typeof createContentStore>;

/**
 * Stores the documents of pipelines: in memory for the next catalog, in a folder for the next start. One file per
 * pipeline, at most 64 MiB: a header line and the documents.
 */
export function createContentStore(folder: string | undefined) {
  const memory = new Map<string, { readonly source: ContentSource; readonly held: StoredContent }>();
  return {
    /** Undefined if nothing is stored or the file is damaged. */
    read: async (id: string, source: ContentSource): Promise<StoredContent | undefined> => {
      const stored = memory.get(id);
      if (stored?.source === source) return stored.held;
      return folder === undefined ? undefined : readHeld(fileOf(folder, id));
    },
    /** Rejects if the file cannot be written; memory is updated anyway. */
    write: async (id: string, source: ContentSource, held: StoredContent): Promise<void> => {
      memory.set(id, { source, held });
      if (folder !== undefined) await writeHeld(folder, id, held);
    },
  };
}

async function readHeld(path: string): Promise<StoredContent | undefined> {
  try {
    if ((await stat(path)).size > MAX_BYTES) return undefined;
    const text = await readFile(path, "utf8");
    const end = text.indexOf("\n");
    const body = text.slice(end + 1);
    if (text.slice(0, end) !== headOf(body)) return undefined;
    return heldSchema.parse(JSON.parse(body));
  } catch {
    return undefined;
  }
}

async function writeHeld(folder: string, id: string, held: StoredContent): Promise<void> {
  const body = JSON.stringify(held);
  if (body.length > MAX_BYTES) return;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFileAtomic(fileOf(folder, id), `${headOf(body)}\n${body}`);
}

function headOf(body: string): string {
  return `keyhole content ${FORMAT} ${hash("sha256", body)}`;
}

/** Ids are free text, so a hash keeps file names unique. */
function fileOf(folder: string, id: string): string {
  const word = id.replace(/[^A-Za-z0-9]+/g, "-").slice(0, 60);
  return join(folder, `${word}-${contentHash(id).slice(0, 16)}.json`);
}
