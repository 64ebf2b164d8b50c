import type { FragmentFacts } from "../files/library-file.ts";

/** A fragment as matching sees it. */
export interface Fragment extends FragmentFacts {
  readonly route: string;
  /** The address that answers show: the library's own URI, or the route. */
  readonly address: string;
  /** The folder below `fragments/`, or an empty text. */
  readonly folder: string;
  readonly body: string;
}

/** A fragment that a query matches, with a score of 1 to 100. */
export interface Match {
  readonly fragment: Fragment;
  readonly score: number;
}
