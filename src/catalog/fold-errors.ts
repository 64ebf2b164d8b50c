import type { ErrorObject } from "ajv";

/** An error with those of its alternatives. */
export interface FoldedError {
  readonly error: ErrorObject;
  /** For a choice between schemas: why each one did not fit. */
  readonly branches: readonly ErrorObject[];
}

/** Groups the errors of alternatives under their choice, and drops repetitions. */
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
