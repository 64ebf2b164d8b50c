import { toStoredText } from "../../core/storage/postgres-client.ts";
import { analyze } from "../../search/analysis/analyze.ts";
import { textOf } from "../../search/lexical/document-postings.ts";
import { nameKey } from "../../search/lexical/names.ts";
import type { SearchDocument, SearchField } from "../../search/port/search-index.ts";
import { FIELD_RULES } from "../../search/ranking/tuning.ts";

/** The searched fields, heaviest first. Keyhole analyses their text, so that words match as in other indexes. */
export const WORD_FIELDS: readonly {
  readonly name: string;
  readonly field: SearchField;
  readonly weight: number;
}[] = [
  { name: "name_words", field: "name", weight: 6 },
  { name: "alias_words", field: "aliases", weight: 4 },
  { name: "description_words", field: "description", weight: 3 },
  { name: "domain_words", field: "domainText", weight: 2 },
  { name: "parameter_words", field: "parameters", weight: 1 },
  { name: "content_words", field: "content", weight: 1 },
];

const MAX_STORED = 20_000;

/** A document for the collection. */
export function toResourceDocument(document: SearchDocument) {
  const uri = toStoredText(document.id);
  const { facts = {} } = document;
  // Documents of a source use their path in it; everything else uses the whole route.
  const address = uri.replace(/^[^:]*:\/\//, "");
  const path = document.facts ? address.replace(/^resources\//, "") : address;
  const words = WORD_FIELDS.map(({ name, field }) => [name, wordsOf(document, field)] as const);
  return {
    id: resourceId(document.id),
    uri,
    domain: toFilterValue(document.domain),
    path,
    path_segment: toFilterValue(facts.path_segment ?? path.split("/")[0] ?? ""),
    name: stored(document.name),
    description: stored(document.description),
    content: stored(document.content),
    scopes: document.scopes.map(toFilterValue),
    // The engine cannot filter by an empty list.
    is_unrestricted: document.scopes.length === 0,
    kind: document.kind,
    // The source's own type, such as `column`.
    resource_type: toFilterValue(facts.resource_type ?? document.kind),
    ...(facts.source_id !== undefined && { source_id: toFilterValue(facts.source_id) }),
    ...(facts.quality_score !== undefined && { quality_score: Math.round(facts.quality_score) }),
    ...(facts.indexed_at !== undefined && { indexed_at: Math.round(facts.indexed_at) }),
    category: toFilterValue(document.category ?? ""),
    tags: document.tags.map(toFilterValue),
    name_keys: nameKeys(document),
    ...Object.fromEntries(words),
  };
}

/** The route in an alphabet that needs no escaping in a URL or a filter. */
export function resourceId(route: string): string {
  return Buffer.from(toStoredText(route)).toString("base64url");
}

/** Encodes a value for the collection: a filter has no way to escape a backtick. */
export function toFilterValue(value: string): string {
  return toStoredText(value).replace(/[`%]/g, (sign) => (sign === "%" ? "%25" : "%60"));
}

function wordsOf(document: SearchDocument, field: SearchField): string {
  if ((document.weights?.[field] ?? 1) <= 0) return "";
  const { maxWords } = FIELD_RULES.find((rule) => rule.field === field)!;
  const terms = analyze(textOf(document, field).slice(0, maxWords * 16), maxWords);
  return terms.map((term) => toStoredText(term.text)).join(" ");
}

function nameKeys(document: SearchDocument): string[] {
  if ((document.weights?.name ?? 1) <= 0) return [];
  return [document.name, ...document.aliases.slice(0, 64)].map((name) => toStoredText(nameKey(name)));
}

function stored(text: string): string {
  return toStoredText(text.slice(0, MAX_STORED));
}
