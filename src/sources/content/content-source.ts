import { problem } from "../../base/problems/problem.ts";
import type { Clock } from "../../base/util/clock.ts";
import { mapLimit } from "../../base/util/map-limit.ts";
import { reasonOf } from "../../base/util/reason-of.ts";
import { toSummary } from "../../base/util/to-summary.ts";
import { untilAborted } from "../../base/util/until-aborted.ts";
import { BARE_ENTRY } from "../../core/nouns/bare-entry.ts";
import type { DomainDefinition } from "../../core/nouns/definition.ts";
import type { EntryDraft } from "../../core/nouns/entry.ts";
import type {
  ContentPipeline,
  ContentSource,
  FetchContext,
  RawContent,
  RawDocument,
  ResourceNode,
} from "../../core/nouns/pipeline.ts";
import type { Source } from "../../core/nouns/source.ts";
import { followSource, type Reading } from "../follow-source.ts";
import type { ContentStore, HeldDocument, StoredContent } from "./content-store.ts";

interface ContentSourceOptions {
  readonly id: string;
  readonly domain: string;
  readonly pipeline: ContentPipeline;
  readonly store: ContentStore;
  readonly clock: Clock;
  readonly random: () => number;
  readonly onProgress: FetchContext["progress"];
  /** Called with a sentence about each omitted document. */
  onFailure(detail: string): void;
}

const DEFAULT_TTL_MS = 4 * 60 * 60_000;

/** Creates the source of one pipeline. Fresh documents need no request; only a complete read replaces another. */
export function createContentSource(options: ContentSourceOptions): Source {
  const { id, pipeline, store, clock, random } = options;
  const { source, cacheTtlMs: ttlMs = DEFAULT_TTL_MS } = pipeline;
  const toDrafts = createToDrafts(options);
  let held: StoredContent | undefined;

  function toReading({ readAt, documents }: StoredContent): Reading {
    const times = documents.map(({ seenAt }) => seenAt).sort((one, other) => one - other);
    return {
      content: { domains: [], drafts: toDrafts(documents) },
      count: documents.length,
      oldest: Math.min(times[0] ?? readAt, readAt),
      newest: times.at(-1) ?? readAt,
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
    read: async ({ signal, force }) => {
      held = await readDocuments(source, held, {
        signal,
        progress: options.onProgress,
        now: clock.now,
        force,
      });
      await store.write(id, source, held).catch((error: unknown) => {
        options.onFailure(`${id} is not stored for the next start: ${reasonOf(error)}`);
      });
      return toReading(held);
    },
  });
  return { id, ...followed };
}

const AT_A_TIME = 8;
const MAX_DOCUMENTS = 100_000;
const MAX_CHARS = 256 * 1024 * 1024;

/** Reads all documents of a source, or throws. Documents of the same version are fetched again only with `force`. */
async function readDocuments(
  source: ContentSource,
  held: StoredContent | undefined,
  { now, force, ...reading }: FetchContext & { readonly force: boolean; now(): number },
): Promise<StoredContent> {
  const failed = new AbortController();
  const signal = AbortSignal.any([reading.signal, failed.signal]);
  const context: FetchContext = { signal, progress: reading.progress };
  const earlier = new Map(held?.documents.map((document) => [document.raw.id, document]));
  const listed = await untilAborted(source.listDocuments(context), signal);
  const unique = [...new Map(listed.map((document) => [document.id, document])).values()];
  if (unique.length > MAX_DOCUMENTS) throw tooMuch(source, "documents", unique.length, MAX_DOCUMENTS);

  let done = 0;
  let chars = 0;
  async function read(document: RawDocument): Promise<HeldDocument> {
    signal.throwIfAborted();
    const before = earlier.get(document.id);
    const raw = !force && isSame(document, before?.raw) ? before!.raw : await take(document, before?.raw);
    chars += raw.content.length;
    if (chars > MAX_CHARS) throw tooMuch(source, "characters", chars, MAX_CHARS);
    done += 1;
    context.progress({ done, total: unique.length });
    const seenAt = now();
    return { raw, seenAt, indexedAt: raw === before?.raw ? before.indexedAt : seenAt };
  }

  /** Documents without a version are compared by content. */
  async function take(document: RawDocument, before: RawContent | undefined): Promise<RawContent> {
    const fetched = await untilAborted(source.fetchContent(document.id, context), signal);
    const raw: RawContent = { ...fetched, ...(document.version && { version: document.version }) };
    return before && JSON.stringify(before) === JSON.stringify(raw) ? before : raw;
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

function isSame({ version, name, contentType }: RawDocument, before: RawContent | undefined): boolean {
  if (version === undefined) return false;
  return version === before?.version && name === before.name && contentType === before.contentType;
}

function tooMuch({ name }: ContentSource, what: string, actual: number, limit: number) {
  return problem("LIMIT_EXCEEDED", { what: `The number of ${what} in ${name}`, actual, limit });
}

/**
 * Turns documents into resources of a domain. Unchanged documents keep their drafts, which saves work in the catalog.
 * Omits only documents that cannot be parsed.
 */
function createToDrafts(options: ContentSourceOptions): (documents: readonly HeldDocument[]) => EntryDraft[] {
  const { id, pipeline, onFailure } = options;
  const draftsByContent = new WeakMap<RawContent, readonly EntryDraft[]>();

  function draftsOf({ raw, indexedAt }: HeldDocument): readonly EntryDraft[] {
    const drafted = draftsByContent.get(raw);
    if (drafted) return drafted;
    try {
      const format = pipeline.formats.find((candidate) => candidate.canHandle(raw.contentType));
      const nodes = flatten(format?.parse(raw, pipeline.basePath ?? "") ?? []);
      const drafts = nodes.map((node) => toDraft(node, indexedAt, options));
      draftsByContent.set(raw, drafts);
      return drafts;
    } catch (error) {
      onFailure(`${id}, ${raw.name}: ${reasonOf(error)}`);
      return [];
    }
  }

  return (documents) => uniqueByRoute(documents.flatMap(draftsOf), onFailure);
}

function flatten(nodes: readonly ResourceNode[]): ResourceNode[] {
  return nodes.flatMap((node) => [node, ...flatten(node.children ?? [])]);
}

function toDraft(
  node: ResourceNode,
  indexedAt: number,
  { id, domain, pipeline }: ContentSourceOptions,
): EntryDraft {
  return {
    ...BARE_ENTRY,
    kind: "resource",
    route: `${domain}://resources/${node.path}`,
    domain,
    name: node.name,
    description: node.description ?? (toSummary(node.content) || node.name),
    scopes: pipeline.scopes ?? [],
    outside: pipeline.source.isLocal !== true,
    metadata: {
      path_segment: node.path.split("/", 1)[0],
      ...node.metadata,
      source_id: id,
      indexed_at: indexedAt,
    },
    content: node.searchText ?? node.content,
    load: async () => node.content,
  };
}

/** Keeps the first document of each route. */
function uniqueByRoute(drafts: readonly EntryDraft[], onFailure: (detail: string) => void): EntryDraft[] {
  const routes = new Set<string>();
  return drafts.filter(({ route = "" }) => {
    if (!routes.has(route)) return routes.add(route);
    onFailure(`${route}: another document has this route`);
    return false;
  });
}

interface SharedOptions extends Pick<ContentSourceOptions, "store" | "clock" | "random" | "onFailure"> {
  onProgress(id: string, ...update: Parameters<FetchContext["progress"]>): void;
}

/** Creates one source for each pipeline of the domains. */
export function createContentSources(domains: readonly DomainDefinition[], shared: SharedOptions): Source[] {
  return domains.flatMap(({ name: domain, extractors = [] }) =>
    extractors.map((pipeline) => {
      const { source, basePath = "" } = pipeline;
      const plain = `${domain}/${source.name}`;
      // The base path, unlike the position, keeps an id stable when pipelines are reordered.
      const isNameTaken = extractors.filter((other) => other.source.name === source.name).length > 1;
      const id = isNameTaken ? `${plain}@${basePath}` : plain;
      return createContentSource({
        ...shared,
        id,
        domain,
        pipeline,
        onProgress: (update) => shared.onProgress(id, update),
      });
    }),
  );
}
