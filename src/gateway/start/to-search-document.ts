import { contentHash } from "../../base/util/content-hash.ts";
import type { Catalog } from "../../core/catalog/catalog.ts";
import type { Domain, Entry } from "../../core/nouns/entry.ts";
import {
  readNames,
  readSegmentFilter,
  type SearchConfig,
  segmentTag,
} from "../../core/nouns/search-config.ts";
import { type DocumentFacts, SEARCH_FIELDS, type SearchDocument } from "../../search/port/search-index.ts";
import { schemaText } from "../../search/schema-text.ts";

/** The document of an entry. The index calls `make` when it needs it. */
export interface HashedDocument {
  readonly id: string;
  readonly hash: string;
  make(): SearchDocument;
  /** The domain's text within the document. */
  readonly domain: string;
}

const documents = new WeakMap<Entry, HashedDocument>();

/** The documents in catalog order. Reuses documents of unchanged entries; a lazy entry is hashed without reading it. */
export function toDocuments(catalog: Catalog, entries: readonly Entry[]): HashedDocument[] {
  const domains = new Map(
    [...catalog.domains].map(([name, { description, searchConfig, scopes, aliases }]) => {
      const text = JSON.stringify([description, searchConfig, scopes, ...(aliases ?? [])]);
      return [name, { text, hash: contentHash(text).slice(0, 8) }];
    }),
  );
  return entries.map((entry) => {
    const { text: domain, hash: domainHash } = domains.get(entry.domain) ?? { text: "", hash: "" };
    const toDocument = () => toSearchDocument(entry, catalog.domains.get(entry.domain));
    if (entry.lazy)
      return { id: entry.route, hash: domainHash + entry.lazy.digest, domain, make: toDocument };
    const earlier = documents.get(entry);
    if (earlier?.domain === domain) return earlier;
    const document = toDocument();
    const hash = contentHash(document).slice(0, 16);
    const hashed = { id: document.id, hash, domain, make: () => document };
    documents.set(entry, hashed);
    return hashed;
  });
}

/** Equal for catalogs with the same documents. The version covers lazy entries. */
export function documentsKey(catalog: Catalog): string {
  const whole = catalog.entries.filter(({ lazy }) => !lazy);
  return contentHash([catalog.version, ...toDocuments(catalog, whole).map(({ hash }) => hash)]);
}

function toSearchDocument(entry: Entry, domain: Domain | undefined): SearchDocument {
  return {
    id: entry.route,
    kind: entry.kind,
    domain: entry.domain,
    visibility: entry.visibility,
    scopes: entry.scopes,
    ...(entry.category && { category: entry.category }),
    tags: [...entry.tags, ...segmentTags(entry, domain?.searchConfig)],
    name: entry.name,
    aliases: [entry.op, ...entry.aliases],
    description: entry.description,
    parameters: [...entry.phrases, parametersOf(entry)].join("\n").trim(),
    domainText: domain
      ? [domain.name, ...(domain.aliases ?? []), domain.description].join(" ")
      : entry.domain,
    content: entry.content ?? "",
    ...(entry.kind === "resource" && factsOf(entry.metadata)),
    ...(domain?.searchConfig && { weights: toWeights(domain.searchConfig) }),
  };
}

/** Most documents take no parameters; people search for them by tag. */
function parametersOf({ kind, inputSchema, tags }: Entry): string {
  const text = schemaText(inputSchema);
  return kind === "resource" ? [text, ...tags].join(" ").trim() : text;
}

const TEXT_FACTS = ["resource_type", "path_segment", "source_id"] as const;
const NUMBER_FACTS = ["quality_score", "indexed_at"] as const;

function factsOf(metadata: Entry["metadata"]): { readonly facts?: DocumentFacts } {
  const facts = Object.fromEntries([
    ...TEXT_FACTS.map((name) => [name, metadata[name]]).filter(([, value]) => typeof value === "string"),
    ...NUMBER_FACTS.map((name) => [name, metadata[name]]).filter(([, value]) => Number.isFinite(value)),
  ]);
  return Object.keys(facts).length > 0 ? { facts } : {};
}

/** Search config names for fields that the index names differently: ops and aliases are names. */
const NAMES_OF_FIELDS = new Map([
  ["domainText", "domain"],
  ["aliases", "name"],
]);

/** Metadata that the domain's segments filter by, as tags, because every engine can filter by tags. */
function segmentTags({ metadata }: Entry, { segments = [] }: SearchConfig = {}): string[] {
  const keys = new Set(segments.flatMap(({ filter }) => readSegmentFilter(filter)?.key ?? []));
  return [...keys].flatMap((key) => (Object.hasOwn(metadata, key) ? segmentTag(key, metadata[key]) : []));
}

/** `queryBy` lists the searched fields, `weights` their weights. Other fields are not searched. */
function toWeights({ queryBy, weights }: SearchConfig): SearchDocument["weights"] {
  if (queryBy === undefined) return {};
  const names = readNames(queryBy);
  const factors = readNames(weights).map(Number);
  const heaviest = Math.max(...factors.filter((factor) => factor > 0), 1);
  const weightOf = (field: string) => {
    const place = names.indexOf(NAMES_OF_FIELDS.get(field) ?? field);
    return place < 0 ? 0 : (factors[place] || heaviest) / heaviest;
  };
  return Object.fromEntries(SEARCH_FIELDS.map((field) => [field, weightOf(field)]));
}
