import type { FetchContext } from "../../schema/pipeline.ts";
import type { Source } from "../../schema/source.ts";
import type { Clock } from "../../util/clock.ts";
import { reasonOf } from "../../util/reason-of.ts";
import { followSource, type Reading } from "../follow-source.ts";
import type { ContentStore } from "./content-store.ts";
import type { HeldContent } from "./held-content.ts";
import { readDocuments } from "./read-documents.ts";
import { createToDrafts, type PipelinePlace } from "./to-drafts.ts";

export interface ContentSourceOptions extends PipelinePlace {
  readonly store: ContentStore;
  readonly clock: Clock;
  readonly random: () => number;
  readonly onProgress: FetchContext["progress"];
}

const DEFAULT_TTL_MS = 4 * 60 * 60_000;

/**
 * Creates the source of one pipeline. Documents of an earlier run are shown without a request while they are
 * fresh. Only a complete read replaces an earlier one.
 */
export function createContentSource(options: ContentSourceOptions): Source {
  const { id, pipeline, store, clock, random } = options;
  const { source, cacheTtlMs: ttlMs = DEFAULT_TTL_MS } = pipeline;
  const toDrafts = createToDrafts(options);
  let held: HeldContent | undefined;

  function toReading({ readAt, documents }: HeldContent): Reading {
    const times = documents.map(({ seenAt }) => seenAt);
    return {
      content: { domains: [], drafts: toDrafts(documents) },
      count: documents.length,
      oldest: times.reduce((least, time) => Math.min(least, time), readAt),
      newest: times.reduce((most, time) => Math.max(most, time), 0) || readAt,
    };
  }

  const followed = followSource({
    clock,
    random,
    ttlMs,
    isLocal: source.isLocal,
    restore: async () => {
      held ??= await store.read(id, source);
      return held && toReading(held);
    },
    read: async ({ signal, anew }) => {
      const context = { signal, progress: options.onProgress, now: clock.now, all: anew };
      held = await readDocuments(source, held, context);
      await store.write(id, source, held).catch((error: unknown) => {
        options.onFailure(`${id} is not stored for the next start: ${reasonOf(error)}`);
      });
      return toReading(held);
    },
  });
  return { id, ...followed };
}
