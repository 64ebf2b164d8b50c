import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { lazy } from "../../base/util/lazy.ts";
import type { SearchDocument } from "../port/search-index.ts";
import { type Facet, FacetTable, HashBits, type Segment, StringTable } from "./segment.ts";

const MAX_THREADS = 2;
/** Threads without work end after this, and give back what they remember. */
const IDLE_MS = 2_000;

/** The worker's file: beside this one in the source tree, in a folder of its own in the built package. */
const workerFile = lazy(() => {
  const built = "search/lexical/segment-worker.js";
  const places = ["./segment-worker.ts", `../${built}`, `./${built}`, "./segment-worker.js"];
  return places.map((place) => new URL(place, import.meta.url)).find((file) => existsSync(file));
});

/** Makes segments in other threads. They start with the first batch and end when there is nothing to do. */
export class SegmentThreads {
  private threads: Thread[] = [];
  private timer: NodeJS.Timeout | undefined;

  /** How many batches should be under way, so that no thread has to wait for the next one. */
  get width(): number {
    return workerFile() === undefined ? 0 : 2 * Math.min(MAX_THREADS, availableParallelism());
  }

  /** The segment of documents that are shown. Rejects where a thread cannot run. */
  async build(documents: readonly SearchDocument[]): Promise<Segment> {
    clearTimeout(this.timer);
    const free = this.threads.find(({ waiting }) => waiting === 0);
    const isFull = this.threads.length >= this.width / 2;
    const least = this.threads.toSorted((one, other) => one.waiting - other.waiting)[0];
    const thread = free ?? (isFull && least ? least : this.start());
    try {
      return await thread.build(documents);
    } finally {
      if (this.threads.every(({ waiting }) => waiting === 0)) {
        this.timer = setTimeout(() => this.end(), IDLE_MS).unref();
      }
    }
  }

  end(): void {
    clearTimeout(this.timer);
    for (const thread of this.threads) thread.end();
    this.threads = [];
  }

  private start(): Thread {
    const thread = startThread(workerFile()!, () => {
      this.threads = this.threads.filter((other) => other !== thread);
    });
    this.threads.push(thread);
    return thread;
  }
}

interface Thread {
  /** Batches that it has not answered. */
  readonly waiting: number;
  build(documents: readonly SearchDocument[]): Promise<Segment>;
  end(): void;
}

function startThread(file: URL, onEnd: () => void): Thread {
  // Small catalogs need no threads, so a start does not load what makes them.
  const { Worker } = process.getBuiltinModule("node:worker_threads");
  const worker = new Worker(file, { env: {}, argv: [], execArgv: [] });
  /** Batches in the order in which they were sent, which is that of the answers. */
  const batches: PromiseWithResolvers<Segment>[] = [];
  worker.unref();
  worker.on("message", (message: SegmentMessage) => {
    batches.shift()?.resolve(fromMessage(message));
    if (batches.length === 0) worker.unref();
  });
  const fail = (reason: unknown): void => {
    onEnd();
    for (const batch of batches.splice(0)) batch.reject(reason);
  };
  worker.on("error", fail);
  worker.on("exit", () => fail(new Error("the thread ended")));
  return {
    get waiting() {
      return batches.length;
    },
    build(documents) {
      const batch = Promise.withResolvers<Segment>();
      batches.push(batch);
      worker.ref();
      worker.postMessage(toColumns(documents));
      return batch.promise;
    },
    end: () => void worker.terminate(),
  };
}

/** Documents by field: much cheaper to send to another thread than one by one. */
export interface DocumentColumns {
  readonly ids: readonly string[];
  readonly names: readonly string[];
  readonly aliases: readonly SearchDocument["aliases"][];
  readonly descriptions: readonly string[];
  readonly parameters: readonly string[];
  readonly domainTexts: readonly string[];
  readonly contents: readonly string[];
  readonly weights: readonly SearchDocument["weights"][];
  readonly facets: readonly Facet[];
  readonly facetOf: Uint32Array;
}

function toColumns(documents: readonly SearchDocument[]): DocumentColumns {
  const table = new FacetTable();
  const facetOf = Uint32Array.from(documents, (document) => table.intern(document));
  return {
    ids: documents.map(({ id }) => id),
    names: documents.map(({ name }) => name),
    aliases: documents.map(({ aliases }) => aliases),
    descriptions: documents.map(({ description }) => description),
    parameters: documents.map(({ parameters }) => parameters),
    domainTexts: documents.map(({ domainText }) => domainText),
    contents: documents.map(({ content }) => content),
    weights: documents.map(({ weights }) => weights),
    facets: table.facets,
    facetOf,
  };
}

/** The documents again, all of them shown. */
export function* fromColumns(columns: DocumentColumns): Generator<SearchDocument> {
  for (let at = 0; at < columns.ids.length; at++) {
    const weights = columns.weights[at];
    yield {
      ...columns.facets[columns.facetOf[at]!]!,
      visibility: "listed",
      id: columns.ids[at]!,
      name: columns.names[at]!,
      aliases: columns.aliases[at]!,
      description: columns.descriptions[at]!,
      parameters: columns.parameters[at]!,
      domainText: columns.domainTexts[at]!,
      content: columns.contents[at]!,
      ...(weights && { weights }),
    };
  }
}

/** A segment without its methods. Arrays move from thread to thread without being copied. */
interface SegmentMessage extends Omit<Segment, "ids" | "terms" | "names"> {
  readonly ids: Pick<StringTable, "units" | "offsets">;
  readonly terms: Pick<StringTable, "units" | "offsets">;
  readonly names: Pick<HashBits, "words">;
}

export function toMessage(segment: Segment): { message: SegmentMessage; moved: ArrayBuffer[] } {
  const { ids, terms, names, facets, ...arrays } = segment;
  const message = {
    ...arrays,
    facets,
    ids: { units: ids.units, offsets: ids.offsets },
    terms: { units: terms.units, offsets: terms.offsets },
    names: { words: names.words },
  };
  const views = [...Object.values(arrays), ids.units, ids.offsets, terms.units, terms.offsets, names.words];
  return { message, moved: [...new Set(views.map((view) => view.buffer as ArrayBuffer))] };
}

function fromMessage({ ids, terms, names, ...arrays }: SegmentMessage): Segment {
  return {
    ...arrays,
    ids: new StringTable(ids.units, ids.offsets),
    terms: new StringTable(terms.units, terms.offsets),
    names: new HashBits(names.words),
  };
}
