import type { DatabaseSync } from "node:sqlite";
import type { ContentSearch } from "./content-search.ts";
import type { Web } from "./web.ts";

/** The site that the tools read and change. */
export interface Site {
  readonly database: DatabaseSync;
  readonly content: ContentSearch;
  readonly web: Web;
  /** Returns the current time in ISO 8601. */
  now(): string;
}
