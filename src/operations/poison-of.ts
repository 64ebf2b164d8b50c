import type { ErrorAnswer } from "./error-answer.ts";
import type { Outside } from "./mark-outside.ts";

/** The ways in which the texts of others in an answer try to steer a model. */
export function poisonOf(output: object, errors: readonly (ErrorAnswer | undefined)[]): readonly string[] {
  const { meta, results = [] } = output as Answered & { readonly results?: readonly Answered[] };
  const found = new Set<string>();
  const add = (part: Marked | undefined) => {
    for (const kind of part?.outside?.poison ?? []) found.add(kind);
  };
  errors.forEach(add);
  add(meta);
  for (const { data, exec } of results) {
    add(data);
    add(exec?.meta);
  }
  return [...found];
}

interface Marked {
  readonly outside?: Outside | undefined;
}

interface Answered {
  readonly meta?: Marked;
  readonly data?: Marked;
  readonly exec?: { readonly meta?: Marked };
}
