import type { ErrorObject } from "ajv";

export interface FoldedError {
  readonly error: ErrorObject;
  /** For a choice between schemas: why each of them did not fit. */
  readonly branches: readonly ErrorObject[];
}

/** Gathers the errors of the alternatives under the choice that they belong to, and drops what only repeats. */
export function foldErrors(errors: readonly ErrorObject[]): FoldedError[] {
  const folded: FoldedError[] = [];
  for (const error of errors) {
    if (error.keyword === "if") continue;
    folded.push({ error, branches: GATHERING.has(error.keyword) ? takeBranches(folded, error) : [] });
  }
  return folded;
}

const GATHERING: ReadonlySet<string> = new Set(["anyOf", "oneOf", "contains", "propertyNames"]);

/** The validator reports the branches right before the choice itself. */
function takeBranches(folded: FoldedError[], choice: ErrorObject): ErrorObject[] {
  const branches: ErrorObject[] = [];
  for (let last = folded.at(-1); last !== undefined; last = folded.at(-1)) {
    const { error } = last;
    const within =
      error.instancePath === choice.instancePath || error.instancePath.startsWith(`${choice.instancePath}/`);
    if (!within || error.parentSchema === choice.parentSchema) break;
    folded.pop();
    branches.unshift(error, ...last.branches);
  }
  return branches;
}
