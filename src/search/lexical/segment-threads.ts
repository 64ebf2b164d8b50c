import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { lazy } from "../../base/util/lazy.ts";
import type { SearchDocument } from "../port/search-index.ts";
import { fromParts, type Segment, type SegmentParts } from "./segment.ts";

const MAX_THREADS = 2;
/** Idle threads end after this. */
const IDLE_MS = 2_000;

/** The worker's file: next to this one in the source tree, in its own folder in the built package. */
const workerFile = lazy(() => {
  const built = "search/lexical/segment-worker.js";
  const places = ["./segment-worker.ts", `../${built}`, `./${built}`, "./segment-worker.js"];
  return places.map((place) => new URL(place, import.meta.url)).find((file) => existsSync(file));
});

/** Builds segments in other threads, which start with the first batch and end when they are idle. */
export class SegmentThreads {
  private threads: Thread[] = [];
  private timer: NodeJS.Timeout | undefined;

  /** Number of batches that keeps every thread busy. */
  get width(): number {
    return workerFile() === undefined ? 0 : 2 * Math.min(MAX_THREADS, availableParallelism());
  }

  /** The segment of visible documents. Rejects if a thread cannot run. */
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
  /** Unanswered batches. */
  readonly waiting: number;
  build(documents: readonly SearchDocument[]): Promise<Segment>;
  end(): void;
}

function startThread(file: URL, onEnd: () => void): Thread {
  // Small catalogs need no threads, so a start does not load the module.
  const { Worker } = process.getBuiltinModule("node:worker_threads");
  const worker = new Worker(file, { env: {}, argv: [], execArgv: [] });
  /** Batches in sending order, which is also the order of answers. */
  const batches: PromiseWithResolvers<Segment>[] = [];
  worker.unref();
  worker.on("message", (parts: SegmentParts) => {
    batches.shift()?.resolve(fromParts(parts));
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

/** Documents by field: sending them to another thread is much cheaper than one by one. */
export type DocumentColumns = { readonly [Field in IndexedField]: readonly SearchDocument[Field][] };

const FIELDS = [
  "id",
  "kind",
  "domain",
  "visibility",
  "scopes",
  "category",
  "tags",
  "name",
  "aliases",
  "description",
  "parameters",
  "domainText",
  "content",
  "weights",
] as const satisfies readonly (keyof SearchDocument)[];
type IndexedField = (typeof FIELDS)[number];

function toColumns(documents: readonly SearchDocument[]): DocumentColumns {
  const columns = FIELDS.map((field) => [field, documents.map((document) => document[field])]);
  return Object.fromEntries(columns) as DocumentColumns;
}

/** Restores the documents. */
export function fromColumns(columns: DocumentColumns): SearchDocument[] {
  return columns.id.map(
    (_, at) =>
      Object.fromEntries(FIELDS.map((field) => [field, columns[field][at]])) as unknown as SearchDocument,
  );
}
