import { LRUCache } from "lru-cache";
import { createViews, type View } from "./access/view.ts";
import { buildCatalog, type Catalog } from "./catalog/catalog.ts";
import { toSearchDocument } from "./operations/to-search-document.ts";
import type { DomainDefinition } from "./schema/definition.ts";
import type { EntryDraft } from "./schema/entry.ts";
import type { Principal } from "./schema/principal.ts";
import type { SearchIndex } from "./search/search-index.ts";
import { fromDomains } from "./sources/code/from-domains.ts";
import { runPipeline } from "./sources/content/run-pipeline.ts";
import { publish } from "./telemetry/events.ts";

/** One catalog with what is derived from it. Replaced as a whole, never changed once ready. */
export interface Generation {
  readonly catalog: Catalog;
  readonly version: string;
  readonly index: SearchIndex;
  viewFor(principal: Principal): View;
  remember<T>(key: string, make: () => T): T;
  /** Loads content and fills the index, once. */
  ready(): Promise<void>;
  /** Runs work that needs this generation to stay. */
  use<T>(work: () => Promise<T>): Promise<T>;
  /** Frees the index when nothing uses it any more. */
  retire(): Promise<void>;
}

const REMEMBERED = 1_000;

/** Checks and builds the catalog at once; content and index follow with the first call. */
export function createGeneration(definitions: readonly DomainDefinition[], index: SearchIndex): Generation {
  const parts = fromDomains(definitions);
  const remembered = new LRUCache<string, { readonly value: unknown }>({ max: REMEMBERED });
  let catalog = buildCatalog(parts);
  let viewFor = createViews(catalog);
  let started: Promise<void> | undefined;
  let users = 0;
  const idle = Promise.withResolvers<void>();
  let retired = false;

  function leave(): void {
    users--;
    if (retired && users === 0) idle.resolve();
  }

  async function start(): Promise<void> {
    const known = new Set(catalog.entries.map((entry) => entry.route));
    const content = uniqueByRoute(await loadContent(definitions), known);
    if (content.length > 0) {
      catalog = buildCatalog({ ...parts, drafts: [...parts.drafts, ...content] });
      viewFor = createViews(catalog);
    }
    for (const { route, status } of catalog.entries) {
      if (status?.state === "invalid")
        publish({ type: "notice", notice: "entry-invalid", detail: `${route}: ${status.reason}` });
    }
    await index.put(
      catalog.entries.map((entry) => toSearchDocument(entry, catalog.domains.get(entry.domain))),
    );
  }

  return {
    get catalog() {
      return catalog;
    },
    get version() {
      return catalog.version;
    },
    index,
    viewFor: (principal) => viewFor(principal),
    remember: <T>(key: string, make: () => T): T => {
      const known = remembered.get(key);
      if (known) return known.value as T;
      const value = make();
      remembered.set(key, { value });
      return value;
    },
    ready: () => {
      started ??= start();
      return started;
    },
    use: async (work) => {
      users++;
      try {
        return await work();
      } finally {
        leave();
      }
    },
    retire: async () => {
      retired = true;
      if (users === 0) idle.resolve();
      await idle.promise;
      await index.close();
    },
  };
}

/** What was written by hand comes first; of two documents with the same route the first stays. */
function uniqueByRoute(drafts: readonly EntryDraft[], known: Set<string>): EntryDraft[] {
  return drafts.filter(({ route = "" }) => {
    if (!known.has(route)) return known.add(route);
    publish({ type: "notice", notice: "content-failed", detail: `${route}: another entry has this route` });
    return false;
  });
}

/** A source that fails takes only its own content with it. */
async function loadContent(definitions: readonly DomainDefinition[]): Promise<EntryDraft[]> {
  const pipelines = definitions.flatMap((domain) =>
    (domain.extractors ?? []).map((pipeline) => ({ domain, pipeline })),
  );
  const loaded = await Promise.all(
    pipelines.map(({ domain, pipeline }) =>
      runPipeline(pipeline, domain.name).catch((error: unknown) => {
        const detail = `${domain.name}, ${pipeline.source.name}: ${error instanceof Error ? error.message : String(error)}`;
        publish({ type: "notice", notice: "content-failed", detail });
        return [];
      }),
    ),
  );
  return loaded.flat();
}
