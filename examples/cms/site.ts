import type { DatabaseSync } from "node:sqlite";
import type { ContentSearch } from "./content-search.ts";
import type { Web } from "./web.ts";

/** What the tools work on. */
export interface Site {
  readonly database: DatabaseSync;
  readonly content: ContentSearch;
  readonly web: Web;
  /** The time now, as ISO 8601. */
  now(): string;
}
