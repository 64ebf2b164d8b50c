import type { FetchContext } from "../../../schema/pipeline.ts";
import { problem } from "../../../schema/problem.ts";

export interface Page<T, C> {
  readonly found: readonly T[];
  /** Cursor of the next page; undefined after the last. */
  readonly next?: C | undefined;
}

const MAX_DOCUMENTS = 200_000;

/** Collects all pages of a listing. Throws SOURCE_INVALID for a loop and LIMIT_EXCEEDED for too many pages. */
export async function collectPages<T, C extends string | number>(
  name: string,
  first: C,
  fetchPage: (cursor: C, done: number) => Promise<Page<T, C>>,
  context?: FetchContext,
  limit = MAX_DOCUMENTS,
): Promise<T[]> {
  const all: T[] = [];
  const seen = new Set<C>();
  for (let cursor: C | undefined = first; cursor !== undefined; ) {
    if (seen.has(cursor)) throw problem("SOURCE_INVALID", { name, reason: "its pages go in circles" });
    seen.add(cursor);
    const page: Page<T, C> = await fetchPage(cursor, all.length);
    for (const found of page.found) all.push(found);
    if (all.length > limit || seen.size > limit) {
      throw problem("LIMIT_EXCEEDED", { what: `The listing of ${name}`, actual: `over ${limit}`, limit });
    }
    context?.progress({ done: all.length, message: `${name}: listing` });
    cursor = page.next;
  }
  return all;
}
