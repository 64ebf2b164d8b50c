import type { FindRequest, FoundEntry } from "../schema/entry.ts";
import type { CallEnvironment } from "./call-environment.ts";

/** Searches on behalf of a running entry, among the entries that its caller may see. */
export async function findWithin(
  { view, search }: Pick<CallEnvironment, "view" | "search">,
  { query, limit, ...filter }: FindRequest,
): Promise<readonly FoundEntry[]> {
  const hits = await search.search({ query, limit, filter: { ...filter, scopes: view.principal.scopes } });
  return hits
    .filter(({ id }) => (view.find(id)?.visibility ?? "hidden") !== "hidden")
    .map(({ id, score }) => ({ route: id, score }));
}
