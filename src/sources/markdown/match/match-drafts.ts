import { lazy } from "../../../base/util/lazy.ts";
import { BARE_ENTRY } from "../../../core/nouns/bare-entry.ts";
import type { EntryDraft } from "../../../core/nouns/entry.ts";
import type { FragmentFile } from "../files/parse-file.ts";
import { folderOf, type LibraryName, MATCH, ownAddress, routePath } from "../files/route-path.ts";
import { createMatcher, type LookupStatistics, MATCH_SCHEMA, type MatchParams } from "./matcher.ts";
import type { Fragment } from "./render-match.ts";

/** With more categories than this, only the match over the whole library has an address. */
const MAX_CATEGORIES = 32;

/**
 * Entries that find fragments by a query: `domain://resources/match?query=…` over all fragments, and
 * `domain://resources/agents/match?query=…` for each category.
 */
export function matchDrafts(
  library: LibraryName,
  files: ReadonlyMap<string, FragmentFile>,
  statistics: LookupStatistics,
): EntryDraft[] {
  if (files.size === 0) return [];
  const { domain } = library;
  const matcher = lazy(() => createMatcher(domain, toFragments(files, library), statistics));

  function draft(folder: string | undefined, scopes: readonly string[]): EntryDraft {
    const path = folder === undefined ? MATCH : `${folder}/${MATCH}`;
    const route = `${domain}://resources/${path}`;
    const { addresses, uri } = ownAddress(library, path);
    return {
      ...BARE_ENTRY,
      kind: "resource",
      route,
      addresses,
      domain,
      name: `${folder ?? domain} match`,
      description:
        folder === undefined
          ? `Finds fragments of ${domain} by a query: their addresses, what they are for, or their texts within a budget.`
          : `Finds fragments in ${folder} by a query.`,
      scopes,
      inputSchema: MATCH_SCHEMA,
      examples: [{ args: { query: "error handling", mode: "index" } }],
      metadata: {
        resource_type: "match",
        mimeType: "text/markdown",
        uriTemplate: `${uri ?? route}{+rest}`,
      },
      load: (params, context) => matcher()(params as unknown as MatchParams, context, folder),
    };
  }

  const byFolder = Map.groupBy(files.values(), ({ path }) => folderOf(path));
  byFolder.delete("");
  if (byFolder.size > MAX_CATEGORIES) byFolder.clear();
  const ofCategories = [...byFolder].flatMap(([folder, sharing]) => {
    const scopes = leastScopes(sharing);
    return scopes ? [draft(folder, scopes)] : [];
  });
  return [draft(undefined, []), ...ofCategories];
}

/**
 * The scopes of a fragment that is visible to everyone who sees any of these. Without such a fragment a category gets
 * no address, so that its name reveals nothing to callers who may not see its fragments.
 */
function leastScopes(files: readonly FragmentFile[]): readonly string[] | undefined {
  const all = files.map(({ facts }) => facts.scopes);
  return all.find((scopes) => scopes.every((scope) => all.every((other) => other.includes(scope))));
}

function toFragments(
  files: ReadonlyMap<string, FragmentFile>,
  library: LibraryName,
): ReadonlyMap<string, Fragment> {
  return new Map(
    [...files].map(([route, { path, body, facts }]) => {
      const address = ownAddress(library, routePath(path)).uri ?? route;
      return [route, { ...facts, route, address, folder: folderOf(path), body }];
    }),
  );
}
