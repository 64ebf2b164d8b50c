import type { Json } from "../util/json.ts";

/** The part of a stored result that is read, before it is cut into pages. */
export interface Selected {
  readonly value: Json;
  /** JSON pointer of the value in the result, if it is a part of it as it is. */
  readonly pointer?: string | undefined;
  /** JSON pointers of its items where they are parts of the result and the value itself is not. */
  readonly pointers?: readonly (string | undefined)[] | undefined;
}

/** The pointers of a list's items. */
export function itemPointers({ value, pointer, pointers }: Selected): readonly (string | undefined)[] {
  if (!Array.isArray(value)) return [];
  return pointers ?? value.map((_, at) => (pointer === undefined ? undefined : `${pointer}/${at}`));
}
