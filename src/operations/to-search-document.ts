import type { Domain, Entry } from "../schema/entry.ts";
import { schemaText } from "../search/schema-text.ts";
import type { SearchDocument } from "../search/search-index.ts";

/** An entry as search sees it. */
export function toSearchDocument(entry: Entry, domain: Domain | undefined): SearchDocument {
  return {
    id: entry.route,
    kind: entry.kind,
    domain: entry.domain,
    visibility: entry.visibility,
    scopes: entry.scopes,
    ...(entry.category && { category: entry.category }),
    tags: entry.tags,
    name: entry.name,
    aliases: [entry.op, ...entry.aliases, ...entry.phrases],
    description: entry.description,
    parameters: schemaText(entry.inputSchema),
    domainText: domain ? `${domain.name} ${domain.description}` : entry.domain,
    content: entry.content ?? "",
  };
}
