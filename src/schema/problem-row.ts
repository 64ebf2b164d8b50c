/** A row of the problem table. */
export interface ProblemRow {
  readonly sentence: string;
  /** The next step. A sentence that names a role is left out on a surface that lacks it. */
  readonly next: string | readonly string[];
  /** For the reference: when it is raised. */
  readonly when: string;
}
