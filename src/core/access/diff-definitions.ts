import { escapePart } from "../../base/json-schema/walk-schema.ts";
import { field, isPlainObject, type PlainObject } from "../../base/util/plain-object.ts";

/** One difference between two definitions. */
export interface DefinitionChange {
  /** JSON pointer. */
  readonly path: string;
  /** Absent for a new field. */
  readonly before?: unknown;
  /** Absent for a removed field. */
  readonly after?: unknown;
}

const MAX_CHANGES = 200;

/** Lists the innermost fields in which two definitions differ, in order. Too many become one change of the root. */
export function diffDefinitions(before: PlainObject, after: PlainObject): DefinitionChange[] {
  const changes: DefinitionChange[] = [];
  const pending: { path: string; before: unknown; after: unknown }[] = [
    { path: "", before: { ...before }, after: { ...after } },
  ];
  // A stack instead of recursion: definitions may be nested deeper than the call stack.
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    if (changes.length === MAX_CHANGES) return [{ path: "", before, after }];
    if (isPlainObject(at.before) && isPlainObject(at.after)) {
      const names = [...new Set([...Object.keys(at.before), ...Object.keys(at.after)])].sort().reverse();
      for (const name of names) {
        pending.push({
          path: `${at.path}/${escapePart(name)}`,
          before: field(at.before, name),
          after: field(at.after, name),
        });
      }
    } else if (JSON.stringify(at.before) !== JSON.stringify(at.after)) {
      changes.push({
        path: at.path,
        ...(at.before !== undefined && { before: at.before }),
        ...(at.after !== undefined && { after: at.after }),
      });
    }
  }
  return changes;
}
