import { setImmediate } from "node:timers/promises";
import { problem } from "../base/problems/problem.ts";
import { batchesOf, LexicalIndex } from "./lexical/lexical-index.ts";
import { SegmentThreads } from "./lexical/segment-threads.ts";
import type { SearchDocument, SearchIndex, SearchStatus } from "./port/search-index.ts";
import { hybridSearch } from "./rank.ts";
import { readSnapshot, writeSnapshot } from "./snapshot.ts";
import type { OpenedSnapshot } from "./snapshot-file.ts";
import { VectorIndex } from "./vector-index.ts";
import type { Embedder } from "./vectors/embedder.ts";

/** Options of {@link createEmbeddedIndex}. */
export interface EmbeddedIndexOptions {
  /** Adds search by vectors. Without it, search uses words only. */
  readonly embedder?: Embedder;
  /** File that `keep` writes and `restore` reads. */
  readonly snapshot?: string;
}

/** The search engine of Keyhole: words in memory, and vectors if there is an embedder. */
export interface EmbeddedIndex extends SearchIndex {
  status(): SearchStatus;
  /** Resolves when running merges and embeddings are done. */
  settled(): Promise<void>;
  /** Merges everything for the fastest searches, for use after large puts. */
  compact(): Promise<void>;
  /** Writes everything to a file that `openEmbeddedIndex` reads. */
  save(path: string, note?: string): Promise<void>;
}

/** With more segments than this, a put waits for merges. */
const MAX_BACKLOG = 64;
/**
 * From this many documents, a put is analysed in other threads. Fewer would be done before the threads have started.
 */
const THREADED_FROM = 10_000;
/** Documents to prepare for vectors before searches have their turn. */
const VECTOR_STEP = 1_024;

/**
 * Creates an empty search index in this process. With an `embedder` it searches by meaning too. See
 * {@link createStaticEmbedder}.
 *
 * @example
 * ```ts
 * import { createGateway } from "keyhole";
 * import { createEmbeddedIndex, createStaticEmbedder } from "keyhole/search";
 *
 * const index = createEmbeddedIndex({ embedder: createStaticEmbedder(), snapshot: "search.bin" });
 * const gateway = createGateway({ domains: [], index });
 * await gateway.close();
 * ```
 */
export function createEmbeddedIndex(options: EmbeddedIndexOptions = {}): EmbeddedIndex {
  return createOver(
    { words: new LexicalIndex(), side: options.embedder && new VectorIndex(options.embedder) },
    options,
  );
}

/** Opens an index that `save` wrote. Returns the reason if the file is missing, damaged or of another version. */
export async function openEmbeddedIndex(
  path: string,
  options: EmbeddedIndexOptions = {},
): Promise<OpenedSnapshot<EmbeddedIndex>> {
  const loaded = await load(path, options);
  return loaded.ok ? { ok: true, value: createOver(loaded.value, options) } : loaded;
}

interface Parts {
  readonly words: LexicalIndex;
  readonly side: VectorIndex | undefined;
}

async function load(
  path: string,
  { embedder }: EmbeddedIndexOptions,
): Promise<OpenedSnapshot<Parts & { note: string }>> {
  const read = await readSnapshot(path);
  if (!read.ok) return read;
  const { segment, note, vectors } = read.value;
  const words = new LexicalIndex();
  words.load(segment);
  if (embedder === undefined) return { ok: true, value: { words, side: undefined, note } };
  // Without documents there are no vectors of any embedder.
  if (vectors === undefined && segment.facetOf.length === 0)
    return { ok: true, value: { words, side: new VectorIndex(embedder), note } };
  if (vectors?.embedder !== embedder.id) {
    return { ok: false, reason: "The search snapshot is not used: its vectors are of another embedder." };
  }
  const side = new VectorIndex(embedder);
  side.adopt(vectors.store, segment);
  return { ok: true, value: { words, side, note } };
}

/** Words and vectors, and the running changes to them. */
class IndexContents {
  words: LexicalIndex;
  side: VectorIndex | undefined;
  merging: Promise<void> | undefined;
  changes: Promise<void> = Promise.resolve();
  isClosed = false;
  private readonly threads = new SegmentThreads();

  constructor({ words, side }: Parts) {
    this.words = words;
    this.side = side;
  }

  /** Runs changes in request order, although searches may run during a large one. */
  async inTurn(change: () => Promise<void>): Promise<void> {
    this.checkOpen();
    const done = this.changes.then(change);
    this.changes = done.catch(() => undefined);
    return done;
  }

  startMerging(all = false): Promise<void> {
    this.merging ??= inSteps(this.words.merge(all), () => this.isClosed).finally(() => {
      this.merging = undefined;
    });
    return this.merging;
  }

  async put(documents: readonly SearchDocument[]): Promise<void> {
    const isThreaded = documents.length >= THREADED_FROM && this.threads.width > 0;
    await (isThreaded ? this.putInThreads(documents) : this.putHere(documents));
    for (let from = 0; from < documents.length && !this.isClosed; from += VECTOR_STEP) {
      if (from > 0) await setImmediate();
      this.side?.put(documents.slice(from, from + VECTOR_STEP));
    }
  }

  checkOpen(): void {
    if (this.isClosed) throw problem("CLOSED");
  }

  close(): void {
    this.isClosed = true;
    this.threads.end();
    this.side?.close();
  }

  private async mergeIfDue(): Promise<void> {
    if (!this.words.wantsMerge) return;
    const merged = this.startMerging();
    if (this.words.segmentCount > MAX_BACKLOG) await merged;
  }

  private async putHere(documents: readonly SearchDocument[]): Promise<void> {
    const steps = this.words.put(documents);
    while (!this.isClosed && steps.next().done !== true) {
      await setImmediate();
      await this.mergeIfDue();
    }
    await this.mergeIfDue();
  }

  private async putInThreads(documents: readonly SearchDocument[]): Promise<void> {
    const batches = batchesOf(documents);
    const putOn = async (): Promise<void> => {
      for (let batch = batches.shift(); batch !== undefined && !this.isClosed; batch = batches.shift()) {
        const shown = batch.filter(({ visibility }) => visibility !== "hidden");
        const segment = await this.threads.build(shown).catch(() => undefined);
        if (this.isClosed) return;
        // Without threads, analyse it here.
        if (segment === undefined) await this.putHere(batch);
        else this.words.take(batch, segment);
        await this.mergeIfDue();
      }
    };
    await Promise.all(Array.from({ length: this.threads.width }, putOn));
  }
}

function createOver(parts: Parts, options: EmbeddedIndexOptions): EmbeddedIndex {
  const contents = new IndexContents(parts);
  return {
    put: (documents) => contents.inTurn(() => contents.put(documents)),

    drop: (ids) =>
      contents.inTurn(async () => {
        contents.words.drop(ids);
        contents.side?.drop(ids);
        if (contents.words.wantsMerge) contents.startMerging();
      }),

    async search(request) {
      contents.checkOpen();
      await contents.side?.nearlySettled();
      return hybridSearch(contents.words, contents.side, request);
    },

    status() {
      const { words, side } = contents;
      const { reason, waitingCount: waiting = 0 } = side ?? {};
      return {
        mode: side?.isReady ? "hybrid" : "lexical",
        documents: words.size,
        waiting,
        ...(reason !== undefined && { reason }),
      };
    },

    async ready() {
      await contents.changes;
      if (contents.side?.embedder.isInstant) await contents.side.settled();
    },

    async settled() {
      await contents.changes;
      while (contents.merging !== undefined) await contents.merging;
      await contents.side?.settled();
    },

    async compact() {
      contents.checkOpen();
      await contents.changes;
      while (!contents.isClosed && contents.words.whole === undefined) await contents.startMerging(true);
    },

    async save(path, note = "") {
      await this.settled();
      await this.compact();
      const { whole } = contents.words;
      if (whole === undefined) throw problem("CLOSED");
      await writeSnapshot(path, { segment: whole, note }, contents.side?.contents(whole.ids));
    },

    async restore() {
      if (options.snapshot === undefined) return {};
      const loaded = await load(options.snapshot, options);
      if (!loaded.ok) return { reason: loaded.reason };
      const { note, ...parts } = loaded.value;
      Object.assign(contents, parts);
      return { note };
    },

    async keep(note) {
      if (options.snapshot !== undefined) await this.save(options.snapshot, note);
    },

    close: async () => contents.close(),
  };
}

/** Runs each step in its own turn of the event loop, so that searches and changes run in between. */
async function inSteps(steps: Iterator<void, void>, stopped: () => boolean): Promise<void> {
  do await setImmediate();
  while (!stopped() && steps.next().done !== true);
}
