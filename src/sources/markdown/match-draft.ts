import { BARE_ENTRY } from "../../schema/bare-entry.ts";
import type { EntryDraft } from "../../schema/entry.ts";
import type { FragmentFile } from "./files/library-file.ts";
import type { Fragment } from "./match/fragment.ts";
import { MATCH_SCHEMA, type MatchParams } from "./match/match-params.ts";
import { createMatcher, type LookupStatistics, type Matcher } from "./match/matcher.ts";
import type { ScenarioIndex } from "./match/scenario-index.ts";
import { MATCH } from "./to-content.ts";

/** The entry that finds fragments by a query: `domain://resources/match?query=…`. */
export function matchDraft(
  domain: string,
  files: ReadonlyMap<string, FragmentFile>,
  loadScenarios: () => Promise<ScenarioIndex>,
  statistics: LookupStatistics,
): EntryDraft {
  let matcher: Matcher | undefined;
  const route = `${domain}://resources/${MATCH}`;
  return {
    ...BARE_ENTRY,
    kind: "resource",
    route,
    domain,
    name: `${domain} match`,
    description: `Finds fragments of ${domain} by a query: their addresses, what they are for, or their texts within a budget.`,
    inputSchema: MATCH_SCHEMA,
    examples: [{ args: { query: "error handling", mode: "index" } }],
    metadata: { resource_type: "match", mimeType: "text/markdown", uriTemplate: `${route}{+rest}` },
    load: (params, { principal }) => {
      matcher ??= createMatcher(toFragments(files), loadScenarios, statistics);
      return matcher.match(params as unknown as MatchParams, principal);
    },
  };
}

function toFragments(files: ReadonlyMap<string, FragmentFile>): Fragment[] {
  return [...files].map(([route, { path, body, facts }]) => ({ ...facts, route, path, body }));
}
