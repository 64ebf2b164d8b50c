import type { SearchDocument } from "../../src/search/port/search-index.ts";
import type { CorpusDocument } from "../corpus.ts";

export function toSearchDocument(document: CorpusDocument): SearchDocument {
  return {
    ...document,
    kind: "tool",
    domain: "corpus",
    visibility: "listed",
    scopes: [],
    tags: [],
    aliases: [],
    domainText: "",
    content: "",
  };
}
