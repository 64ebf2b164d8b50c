// A content management system for the site of an architecture studio, as one domain of 45 tools.
import { readdirSync, readFileSync } from "node:fs";
import { type DomainDefinition, defineDomain } from "keyhole";
import { createContentSearch } from "./content-search.ts";
import { openDatabase, refill } from "./database.ts";
import { ENTITY_EXTRACTORS } from "./entity-extractors.ts";
import { fillSite } from "./seed/fill-site.ts";
import type { Site } from "./site.ts";
import { entryTools } from "./tools/entries.ts";
import { httpTools } from "./tools/http.ts";
import { imageTools } from "./tools/images.ts";
import { navigationTools } from "./tools/navigation.ts";
import { pageTools } from "./tools/pages.ts";
import { pexelsTools } from "./tools/pexels.ts";
import { planningTools } from "./tools/planning.ts";
import { postTools } from "./tools/posts.ts";
import { researchTools } from "./tools/research.ts";
import { searchTools } from "./tools/search.ts";
import { sectionTools } from "./tools/sections.ts";
import { createWeb } from "./web.ts";

export interface CmsOptions {
  /** The database file. Default: in memory. */
  readonly path?: string;
  /** Returns the current time. */
  readonly now?: () => Date;
}

export interface Cms {
  readonly domain: DomainDefinition;
  /** Restores the site's first state. */
  reset(): void;
  close(): Promise<void>;
}

const RULES = new URL("./rules/", import.meta.url);

export function createCms({ path = ":memory:", now = () => new Date() }: CmsOptions = {}): Cms {
  const database = openDatabase(path, fillSite);
  const content = createContentSearch(database);
  const web = createWeb();
  const site: Site = { database, content, web, now: () => now().toISOString() };
  const domain = defineDomain({
    name: "cms",
    description: "The website of Studio Fjell: pages, sections, images, posts and menu.",
    rules: readRules(),
    entityExtractors: ENTITY_EXTRACTORS,
    tools: [
      ...pageTools(site),
      ...sectionTools(site),
      ...imageTools(site),
      ...postTools(site),
      ...navigationTools(site),
      ...entryTools(site),
      ...searchTools(site),
      ...httpTools(site),
      ...researchTools(site),
      ...pexelsTools(site),
      ...planningTools(),
    ],
  });
  return {
    domain,
    reset() {
      refill(database, fillSite);
      web.reset();
    },
    async close() {
      await Promise.all([content.close(), web.close()]);
      database.close();
    },
  };
}

/** Reads the rules, one file for each category. */
function readRules(): Record<string, string> {
  const files = readdirSync(RULES).filter((file) => file.endsWith(".md"));
  return Object.fromEntries(
    files.map((file) => [file.slice(0, -".md".length), readFileSync(new URL(file, RULES), "utf8").trim()]),
  );
}
