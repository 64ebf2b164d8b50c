import type { ContentSource, FetchContext, RawContent, RawDocument } from "../../schema/pipeline.ts";
import { problem } from "../../schema/problem.ts";
import { mapLimit } from "../../util/map-limit.ts";
import { untilAborted } from "../../util/until-aborted.ts";
import type { HeldContent, HeldDocument } from "./held-content.ts";

const AT_A_TIME = 8;
const MAX_DOCUMENTS = 100_000;
const MAX_CHARS = 256 * 1024 * 1024;

/** Options of one read. */
export interface ReadContext extends FetchContext {
  now(): number;
  /** Fetches unchanged documents too. */
  readonly all: boolean;
}

/** Reads all documents of a source, or throws. Documents whose version has not changed are not fetched again. */
export async function readDocuments(
  source: ContentSource,
  held: HeldContent | undefined,
  reading: ReadContext,
): Promise<HeldContent> {
  const { now } = reading;
  const failed = new AbortController();
  const signal = AbortSignal.any([reading.signal, failed.signal]);
  const context: FetchContext = { signal, progress: reading.progress };
  const known = new Map(held?.documents.map((document) => [document.raw.id, document]));
  const listed = await untilAborted(source.listDocuments(context), signal);
  const unique = [...new Map(listed.map((document) => [document.id, document])).values()];
  if (unique.length > MAX_DOCUMENTS) throw tooMuch(source, "documents", unique.length, MAX_DOCUMENTS);

  let done = 0;
  let chars = 0;
  async function read(document: RawDocument): Promise<HeldDocument> {
    signal.throwIfAborted();
    const kept = known.get(document.id);
    const raw = !reading.all && isSame(document, kept?.raw) ? kept!.raw : await take(document, kept);
    chars += raw.content.length;
    if (chars > MAX_CHARS) throw tooMuch(source, "characters", chars, MAX_CHARS);
    done += 1;
    context.progress({ done, total: unique.length });
    const seenAt = now();
    return { raw, seenAt, indexedAt: raw === kept?.raw ? kept.indexedAt : seenAt };
  }

  /** Documents without a version are compared by content. */
  async function take(document: RawDocument, kept: HeldDocument | undefined): Promise<RawContent> {
    const fetched = await untilAborted(source.fetchContent(document.id, context), signal);
    const raw: RawContent = { ...fetched, ...(document.version && { version: document.version }) };
    return kept && JSON.stringify(kept.raw) === JSON.stringify(raw) ? kept.raw : raw;
  }

  context.progress({ done, total: unique.length });
  try {
    const documents = await mapLimit(unique, AT_A_TIME, read);
    return { readAt: now(), documents };
  } catch (error) {
    // Stops the other fetches of an incomplete read.
    failed.abort(error);
    throw error;
  }
}

function isSame(listed: RawDocument, kept: RawContent | undefined): boolean {
  if (!kept || listed.version === undefined) return false;
  const { version, name, contentType } = kept;
  return listed.version === version && listed.name === name && listed.contentType === contentType;
}

function tooMuch({ name }: ContentSource, what: string, actual: number, limit: number) {
  return problem("LIMIT_EXCEEDED", { what: `The number of ${what} in ${name}`, actual, limit });
}
