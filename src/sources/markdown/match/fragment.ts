import type { FragmentFacts } from "../files/library-file.ts";

/** A fragment as matching sees it. */
export interface Fragment extends FragmentFacts {
  readonly route: string;
  readonly path: string;
  readonly body: string;
}

/** A fragment that a query matches, and how well. */
export interface Match {
  readonly fragment: Fragment;
  readonly score: number;
}
